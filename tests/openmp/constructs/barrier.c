// SPDX-License-Identifier: Apache-2.0
// barrier: nobody passes before all have come, and what was written before it is read after it.
#include "../support/check.h"
#include "../support/everywhere.h"

static void phases(int threads)
{
  int phase_of[most_members] = {0};
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    for (int phase = 1; phase <= 25; phase++) {
      phase_of[me] = phase;  // plain: the barrier alone orders it
#pragma omp barrier
      for (int i = 0; i < threads; i++) CHECK_EQ(phase_of[i], phase);
#pragma omp barrier
    }
  }
}

// Members come one after the other, the primary last or first.
static void staggered(int threads)
{
  int arrived = 0;
  for (int order = 0; order < 2; order++) {
    arrived = 0;
#pragma omp parallel num_threads(threads)
    {
      int me = omp_get_thread_num();
      usleep((useconds_t)(200 * (order ? me : threads - 1 - me)));
#pragma omp atomic
      arrived++;
#pragma omp barrier
      CHECK_EQ(arrived, threads);
    }
  }
}

// The barriers of an inner team are its own.
static void inner(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int mine[4] = {0}, turns = 1 + omp_get_thread_num() % 3;
    for (int turn = 0; turn < turns; turn++) {
#pragma omp parallel num_threads(4)
      {
        mine[omp_get_thread_num()]++;
#pragma omp barrier
        for (int i = 0; i < 4; i++) CHECK_EQ(mine[i], turn + 1);
#pragma omp barrier
      }
    }
#pragma omp barrier
    CHECK_EQ(mine[3], turns);
  }
}

// A neighbour exchange that computes the same as its sequential version only if every barrier holds.
static void relaxation(int threads)
{
  enum { cells = 130, steps = 40 };
  long now[cells] = {0}, next[cells] = {0}, expected[cells] = {0}, scratch[cells] = {0};
  now[cells / 2] = expected[cells / 2] = 1L << 40;
  for (int step = 0; step < steps; step++) {
    for (int i = 1; i < cells - 1; i++) scratch[i] = (expected[i - 1] + 2 * expected[i] + expected[i + 1]) / 4;
    memcpy(expected, scratch, sizeof scratch);
  }
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num(), first = 1 + (cells - 2) * me / threads, last = 1 + (cells - 2) * (me + 1) / threads;
    for (int step = 0; step < steps; step++) {
      for (int i = first; i < last; i++) next[i] = (now[i - 1] + 2 * now[i] + now[i + 1]) / 4;
#pragma omp barrier
      for (int i = first; i < last; i++) now[i] = next[i];
#pragma omp barrier
    }
  }
  for (int i = 0; i < cells; i++) CHECK_EQ(now[i], expected[i]);
}

int main(void)
{
  everywhere(phases, staggered, inner, relaxation);
  return check_result();
}
