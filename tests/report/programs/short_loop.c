// SPDX-License-Identifier: Apache-2.0
// Fault: short_loop
// A loop of a quarter of a microsecond is a region of its own, again and again.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 4000000, ITERATIONS = 4 };

int main(void) {
  calibrate();
  const long piece = steps_of(0.0625);
  double sum = 0;
  int count = ITERATIONS;
  omp_get_max_threads();
#ifdef FIXED
#pragma omp parallel reduction(+ : sum)
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp for
    for (int i = 0; i < count; ++i) sum += work(piece);
  }
#else
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel for reduction(+ : sum)  // PLANTED
    for (int i = 0; i < count; ++i) sum += work(piece);
  }
#endif
  return print_checksum(sum);
}
