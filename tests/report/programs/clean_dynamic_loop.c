// SPDX-License-Identifier: Apache-2.0
// Fault: none
// Uneven iterations in a dynamic loop, with chunks of some 100 microseconds.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 20, ITERATIONS = 20000, CHUNK = 20 };

int main(void) {
  calibrate();
  // 5 microseconds in the mean.
  const int iterations = ITERATIONS * omp_get_max_threads();
  const double unit = 10.0 / iterations;
  double sum = 0;
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel for schedule(dynamic, CHUNK) reduction(+ : sum)
    for (int i = 0; i < iterations; ++i) sum += work(steps_of(unit * (i + 1)));
  }
  return print_checksum(sum);
}
