// SPDX-License-Identifier: Apache-2.0
// A chunk times a step that no 64-bit integer holds. libgomp 12 and the gcc side of libomp multiply
// them unchecked and run too much or nothing; libomp does right by clang.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <limits.h>

static void huge(int threads)
{
  volatile long long zero = 0;
  volatile unsigned long long unsigned_zero = 0;
  long long bodies[6] = {0};
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic, 1000000000)
    for (long long i = zero; i < LLONG_MAX / 2; i += LLONG_MAX / 700) {
#pragma omp atomic
      bodies[0]++;
    }
#pragma omp for schedule(guided, 1000000000)
    for (long long i = zero; i < LLONG_MAX / 2; i += LLONG_MAX / 700) {
#pragma omp atomic
      bodies[1]++;
    }
#pragma omp for schedule(dynamic, 1000000000)
    for (unsigned long long i = unsigned_zero; i < ULLONG_MAX / 2; i += ULLONG_MAX / 700) {
#pragma omp atomic
      bodies[2]++;
    }
#pragma omp for schedule(monotonic : dynamic, 1000000000)
    for (long long i = LLONG_MAX / 2; i > zero; i -= LLONG_MAX / 700) {
#pragma omp atomic
      bodies[3]++;
    }
#pragma omp for schedule(dynamic, 3)
    for (long long i = zero; i < LLONG_MAX / 2; i += LLONG_MAX / 700) {
#pragma omp atomic
      bodies[4]++;
    }
#pragma omp for schedule(dynamic, 3)
    for (unsigned long long i = ULLONG_MAX; i > ULLONG_MAX / 2; i -= ULLONG_MAX / 700) {
#pragma omp atomic
      bodies[5]++;
    }
  }
  for (int loop = 0; loop < 6; loop++) CHECK_EQ(bodies[loop], 351);
}

int main(void)
{
  everywhere(huge);
  return check_result();
}
