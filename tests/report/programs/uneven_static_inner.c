// SPDX-License-Identifier: Apache-2.0
// Fault: uneven_static
// One region for all, and in it two loops: the first is even, the second is not.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 14, ITERATIONS = 400 };

#ifdef FIXED
#define SCHEDULE dynamic, 2
#else
#define SCHEDULE static
#endif

int main(void) {
  calibrate();
  const double all = 50e3 * omp_get_max_threads();
  const double unit = all / (0.5 * ITERATIONS * (ITERATIONS + 1));
  const long even = steps_of(all / ITERATIONS);
  double sum = 0;
  // The compiler may keep a static loop from the runtime. Then the report can only blame the region, or the barrier
  // behind the loop.
#pragma omp parallel reduction(+ : sum)  // PLANTED
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp for schedule(static)
    for (int i = 0; i < ITERATIONS; ++i) sum += work(even);
    // From the first to the last: the threads at the front have the long ones.
#pragma omp for schedule(SCHEDULE)  // PLANTED
    for (int i = 0; i < ITERATIONS; ++i) sum += work(steps_of(unit * (ITERATIONS - i)));  // PLANTED
  }
  return print_checksum(sum);
}
