// SPDX-License-Identifier: Apache-2.0
// Fault: few_threads
// The region's clause leaves half of the CPUs without work.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 20, PIECES = 200 };

#ifdef FIXED
#define THREADS
#else
#define THREADS num_threads(threads)
#endif

int main(void) {
  calibrate();
  const int threads = (omp_get_num_procs() + 1) / 2;
  const long piece = steps_of(120e3 * threads / PIECES);
  double sum = 0;
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) THREADS  // PLANTED
    for (int i = 0; i < PIECES; ++i) sum += work(piece);
  }
  return print_checksum(sum + 0 * threads);
}
