// SPDX-License-Identifier: Apache-2.0
// Worksharing constructs without a barrier: a fast member may be dozens of constructs ahead of a slow one, so the runtime
// must keep the state of each of them apart.
#include "../support/check.h"
#include "../support/everywhere.h"

enum { loops = 60, n = 40, ahead = 6 };

static void many_in_flight(int threads)
{
  int times[loops][n];
  memset(times, 0, sizeof times);
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == threads / 2) usleep(2000);
    for (int loop = 0; loop < loops; loop++) {
      switch (loop % 4) {
      case 0:
#pragma omp for schedule(dynamic, 3) nowait
        for (int i = 0; i < n; i++) {
#pragma omp atomic
          times[loop][i]++;
        }
        break;
      case 1:
#pragma omp for schedule(guided) nowait
        for (long long i = 0; i < n; i++) {
#pragma omp atomic
          times[loop][i]++;
        }
        break;
      case 2:
#pragma omp single nowait
        for (int i = 0; i < n; i++) {
#pragma omp atomic
          times[loop][i]++;
        }
        break;
      default:
#pragma omp for schedule(monotonic : dynamic) nowait
        for (unsigned i = 0; i < n; i++) {
#pragma omp atomic
          times[loop][i]++;
        }
      }
    }
  }
  for (int loop = 0; loop < loops; loop++)
    for (int i = 0; i < n; i++) CHECK_EQ(times[loop][i], 1);
}

// The straggler finds the loops already done by the others. How many they may be ahead is the runtime's choice (libomp: 7).
static void straggler(int threads)
{
  if (threads < 2) return;
  int done = 0, seen = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
      for (int spin = 0; spin < 3000 && seen < ahead * n; spin++) {
        usleep(1000);
#pragma omp atomic read
        seen = done;
      }
    }
    for (int loop = 0; loop < ahead; loop++) {
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < n; i++) {
#pragma omp atomic
        done++;
      }
    }
  }
  CHECK_EQ(seen, ahead * n);
  CHECK_EQ(done, ahead * n);
}

static void mixed_with_barriers(int threads)
{
  int total = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 30; round++) {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 10; i++) {
#pragma omp atomic
      total++;
    }
#pragma omp sections nowait
    {
#pragma omp section
      {
#pragma omp atomic
        total++;
      }
#pragma omp section
      {
#pragma omp atomic
        total++;
      }
    }
#pragma omp barrier
    int now;
#pragma omp atomic read
    now = total;
    CHECK_EQ(now, 12 * (round + 1));
#pragma omp barrier
  }
}

int main(void)
{
  everywhere(many_in_flight);
  omp_set_max_active_levels(2);
  straggler(2);
  straggler(5);
#pragma omp parallel num_threads(2)
  straggler(3);
  everywhere(mixed_with_barriers);
  return check_result();
}
