// SPDX-License-Identifier: Apache-2.0
// Fault: single_region
// In each round one thread prepares for 20 ms what all use for 30 ms. The others wait meanwhile.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 50, PIECES = 200 };

static double prepared = 0;

// gcc gives the call for `single` the line of what is before it. So nothing else is before it in its function.
#ifdef FIXED
static __attribute__((noinline)) double prepare(long piece) {
  double sum = 0;
#pragma omp for schedule(dynamic)
  for (int i = 0; i < PIECES; ++i) sum += work(piece);
  return sum;
}
#else
static __attribute__((noinline)) double prepare(long piece) {
#pragma omp single  // PLANTED
  for (int i = 0; i < PIECES; ++i) prepared += work(piece);
  return 0;
}
#endif

int main(void) {
  calibrate();
  const long preparing = steps_of(20e3 / PIECES);
  const long using = steps_of(30e3 * omp_get_max_threads() / PIECES);
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int round = 0; round < ROUNDS; ++round) {
    sum += prepare(preparing);
#pragma omp for schedule(dynamic)
    for (int i = 0; i < PIECES; ++i) sum += work(using);
  }
  return print_checksum(sum + prepared);
}
