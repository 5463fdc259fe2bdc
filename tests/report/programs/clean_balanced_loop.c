// SPDX-License-Identifier: Apache-2.0
// Fault: none
// A static loop whose iterations take the same time.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 20, ITERATIONS = 1000 };

int main(void) {
  calibrate();
  const int iterations = ITERATIONS * omp_get_max_threads();
  const long piece = steps_of(100);
  double sum = 0;
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < iterations; ++i) sum += work(piece);
  }
  return print_checksum(sum);
}
