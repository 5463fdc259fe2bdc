// SPDX-License-Identifier: Apache-2.0
// Fault: uneven_static
// Iteration i takes i times as long as the first, and each thread gets as many iterations as the others: of two threads
// the second has three quarters of the work.
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
  // 100 ms of work for each thread.
  const double all = 100e3 * omp_get_max_threads();
  const double unit = all / (0.5 * ITERATIONS * (ITERATIONS + 1));
  double sum = 0;
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel for schedule(SCHEDULE) reduction(+ : sum)  // PLANTED
    for (int i = 0; i < ITERATIONS; ++i) sum += work(steps_of(unit * (i + 1)));
  }
  return print_checksum(sum);
}
