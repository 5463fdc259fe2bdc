// SPDX-License-Identifier: Apache-2.0
// A region is cancelled while one member sleeps at a barrier, another one runs a task, and another one computes: the one
// at the barrier goes on, whoever ends last.
#include <omp.h>
#include <unistd.h>

#include "../support/check.h"

enum { kThreads = 4, kComputes = 60000, kRuns = 25000, kWaits = 5000 };

static void region(int runner, int canceller, int computes)
{
  int running = 0;
#pragma omp parallel num_threads(kThreads) shared(running)
  {
    const int me = omp_get_thread_num();
    if (me == runner) {
#pragma omp task shared(running)
      {
        __atomic_store_n(&running, 1, __ATOMIC_RELAXED);
        usleep(kRuns);
      }
#pragma omp taskwait
#pragma omp cancellation point parallel
    } else {
      while (!__atomic_load_n(&running, __ATOMIC_RELAXED)) usleep(100);
      if (me == canceller) {
        usleep(kWaits);
#pragma omp cancel parallel
      } else if (me == computes) {
        usleep(kComputes);
#pragma omp cancellation point parallel
      } else {
#pragma omp barrier
      }
    }
  }
}

int main(void)
{
  // The one at the barrier would wait for ever.
  if (!omp_get_cancellation()) return 0;
  omp_set_max_active_levels(2);
  for (int round = 0; round < 3; round++) {
    for (int runner = 0; runner < 3; runner++) {
      const int canceller = (runner + 1) % kThreads, computes = (runner + 3) % kThreads;
      region(runner, canceller, computes);
      region(runner, canceller, -1);
#pragma omp parallel num_threads(2)
      region(runner, canceller, computes);
    }
  }
  return check_result();
}
