// SPDX-License-Identifier: Apache-2.0
// A barrier, and the end of a region, complete all tasks of the team: also those that tasks create while the members
// already wait, and those of slow tasks that a waiting member must not overtake.
#include "../support/check.h"
#include "../support/everywhere.h"

static void at_explicit_barrier(int threads)
{
  int done = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 1; round <= 10; round++) {
    for (int i = 0; i < 5; i++) {
#pragma omp task shared(done)
      {
#pragma omp atomic
        done++;
      }
    }
#pragma omp barrier
    CHECK_EQ(done, 5 * round * threads);
#pragma omp barrier
  }
}

static void at_implicit_barriers(int threads)
{
  int done = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(done)
      {
#pragma omp atomic
        done++;
      }
    }
    CHECK_EQ(done, 20);
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(done)
      {
#pragma omp atomic
        done++;
      }
    }
    CHECK_EQ(done, 40);
  }
}

static void spread(int depth, int *count)
{
  if (depth == 0) {
#pragma omp atomic
    ++*count;
    return;
  }
  if (depth % 3 == 0) usleep(50);
#pragma omp task
  spread(depth - 1, count);
#pragma omp task
  spread(depth - 1, count);
}

static void created_while_waiting(int threads)
{
  int leaves = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp master
    {
#pragma omp task shared(leaves)
      spread(7, &leaves);
    }
#pragma omp barrier
    CHECK_EQ(leaves, 128);
  }
}

static void at_the_end(int threads)
{
  int done = 0;
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
#pragma omp task shared(done) firstprivate(me)
    {
      usleep((useconds_t)(me * 100));
#pragma omp task shared(done)
      {
#pragma omp atomic
        done++;
      }
    }
  }
  CHECK_EQ(done, threads);
}

// Tasks of an inner team are done when the inner region is, those of the outer team need not be.
static void inner_team(int threads)
{
  int outer = 0;
#pragma omp parallel num_threads(threads)
  {
    int inner = 0;
#pragma omp task shared(outer)
    {
#pragma omp atomic
      outer++;
    }
#pragma omp parallel num_threads(3)
    {
#pragma omp task shared(inner)
      {
#pragma omp atomic
        inner++;
      }
    }
    CHECK_EQ(inner, 3);
  }
  CHECK_EQ(outer, threads);
}

int main(void)
{
  everywhere(at_explicit_barrier, at_implicit_barriers, created_while_waiting, at_the_end,
             inner_team);
  return check_result();
}
