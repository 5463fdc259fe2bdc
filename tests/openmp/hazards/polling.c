// SPDX-License-Identifier: Apache-2.0
// Members that poll for others which compute, as the progress threads of MPI programs do: without a call, and with calls
// that tell a runtime nothing. First members and last ones, one poller and many, regions that poll between others that do
// not, nested, and in tasks; region after region, so that a search for the one that can go on must not be paid each time.
#include "../support/check.h"

#include <omp.h>
#include <sched.h>

#define LOAD(X) __atomic_load_n(&(X), __ATOMIC_ACQUIRE)
#define ADD(X, N) __atomic_add_fetch(&(X), N, __ATOMIC_ACQ_REL)

enum way { plain, asks, tests, yields, ways };

// What MPI_Testany does: it looks at memory.
static int progress_made;
__attribute__((noinline)) static int test_any(int *counter, int wanted)
{
  progress_made = LOAD(*counter);
  return progress_made == wanted;
}

static void await(int *counter, int wanted, enum way way)
{
  switch (way) {
    case plain:
      while (LOAD(*counter) != wanted) continue;
      break;
    case asks:
      while (LOAD(*counter) != wanted) CHECK_IN(omp_get_thread_num(), 0, 64);
      break;
    case tests:
      while (LOAD(*counter) != wanted) CHECK(omp_get_wtime() > 0);
      break;
    default:
      while (!test_any(counter, wanted)) sched_yield();
  }
}

static void compute(double seconds)
{
  double begin = omp_get_wtime();
  while (omp_get_wtime() - begin < seconds) continue;
}

// The `pollers` first or last members wait for all others.
static void region(int threads, int pollers, int first, enum way way)
{
  int done = 0, passed = 0;
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    int polls = first ? me < pollers : me >= threads - pollers;
    if (polls)
      await(&done, threads - pollers, way);
    else {
      compute(50e-6);
      ADD(done, 1);
    }
    ADD(passed, 1);
  }
  CHECK_EQ(passed, threads);
}

static void shapes(int regions, enum way way)
{
  for (int i = 0; i < regions; i++) region(2, 1, 1, way);
  for (int i = 0; i < regions; i++) region(2, 1, 0, way);
  for (int i = 0; i < regions; i++) region(4, 1, 1, way);
  for (int i = 0; i < regions; i++) region(4, 1, 0, way);
  for (int i = 0; i < regions; i++) region(4, 3, 1, way);
  for (int i = 0; i < regions; i++) region(4, 3, 0, way);
}

// In each region several times, with barriers in between.
static void phases(int threads, int count)
{
  int done[64] = {0};
#pragma omp parallel num_threads(threads)
  for (int phase = 0; phase < count; phase++) {
    if (omp_get_thread_num() == phase % threads)
      await(&done[phase], threads - 1, plain);
    else
      ADD(done[phase], 1);
#pragma omp barrier
  }
  for (int phase = 0; phase < count; phase++) CHECK_EQ(done[phase], threads - 1);
}

// Only every other region polls; what the others compute comes out right.
static void between_others(int regions)
{
  for (int i = 0; i < regions; i++) {
    region(3, 1, 1, plain);
    int sum = 0;
#pragma omp parallel for schedule(dynamic) num_threads(6) reduction(+ : sum)
    for (int k = 0; k < 100; k++) sum += k;
    CHECK_EQ(sum, 4950);
  }
}

static void nested(int outer, int regions)
{
#pragma omp parallel num_threads(outer)
  for (int i = 0; i < regions; i++) region(2, 1, i % 2, plain);
}

// One task polls for the others.
static void tasks(int threads, int count)
{
  int done = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task shared(done)
    await(&done, count, plain);
    for (int i = 0; i < count; i++) {
#pragma omp task shared(done)
      ADD(done, 1);
    }
  }
  CHECK_EQ(done, count);
}

// A member of the team that waits for one that is inside of a region of its own.
static void for_an_inner_region(void)
{
  int done = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    await(&done, 3, plain);
  } else {
#pragma omp parallel num_threads(3)
    ADD(done, 1);
  }
  CHECK_EQ(done, 3);
}

int main(void)
{
  omp_set_max_active_levels(3);
  omp_set_dynamic(0);
  for (int way = 0; way < ways; way++) shapes(TIMES(20), (enum way)way);
  for (int i = 0; i < TIMES(20); i++) phases(3, 6);
  between_others(TIMES(20));
  nested(3, TIMES(20));
  for (int i = 0; i < TIMES(20); i++) tasks(3, 8);
  for (int i = 0; i < TIMES(20); i++) for_an_inner_region();
  return check_result();
}
