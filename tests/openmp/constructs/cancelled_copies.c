// SPDX-License-Identifier: Apache-2.0
// single copyprivate in a region that has been cancelled: members that go on get the values of the one that executes the
// single region, and those lie on its stack.
#include <sched.h>

#include "../support/check.h"
#include "../support/everywhere.h"

// One cancels before, and the others meet several of them.
static void copies(int threads, int canceller)
{
  int wrong = 0;
#pragma omp parallel num_threads(threads) shared(wrong)
  {
    int first = -1, second[100] = {0};
    const int number = omp_get_thread_num();
    if (number == canceller) {
#pragma omp cancel parallel
    }
    if (number % 3 == 1) sched_yield();
#pragma omp single copyprivate(first)
    first = 5 + threads;
    if (first != 5 + threads) {
#pragma omp atomic
      wrong++;
    }
#pragma omp single copyprivate(second)
    for (int i = 0; i < 100; i++) second[i] = i + threads;
    for (int i = 0; i < 100; i++) {
      if (second[i] != i + threads) {
#pragma omp atomic
        wrong++;
      }
    }
    // Between two of them others leave.
    if (number == (canceller + 1) % threads) {
#pragma omp cancellation point parallel
    }
#pragma omp single copyprivate(first)
    first = 9;
    if (first != 9) {
#pragma omp atomic
      wrong++;
    }
  }
  CHECK_EQ(wrong, 0);
}

static void run(int threads)
{
  for (int round = 0; round < 12; round++) {
    copies(threads, round % threads);
    // And in one that is not: nothing is left over.
    copies(threads, threads);
  }
}

int main(void)
{
  everywhere(run);
  return 0;
}
