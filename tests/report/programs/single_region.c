// SPDX-License-Identifier: Apache-2.0
// Fault: single_region
// In each round one thread prepares for 20 ms what all use for 30 ms. The others wait meanwhile.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 50, PIECES = 200 };

int main(void) {
  calibrate();
  const long prepare = steps_of(20e3 / PIECES);
  const long use = steps_of(30e3 * omp_get_max_threads() / PIECES);
  double sum = 0;
  double prepared = 0;
#pragma omp parallel reduction(+ : sum)
  for (int round = 0; round < ROUNDS; ++round) {
#ifdef FIXED
#pragma omp for schedule(dynamic)
    for (int i = 0; i < PIECES; ++i) sum += work(prepare);
#else
#pragma omp single  // PLANTED
    for (int i = 0; i < PIECES; ++i) prepared += work(prepare);
#endif
#pragma omp for schedule(dynamic)
    for (int i = 0; i < PIECES; ++i) sum += work(use);
  }
  return print_checksum(sum + prepared);
}
