// SPDX-License-Identifier: Apache-2.0
// Fault: small_chunks
// Each iteration is a chunk, and takes less time than its way through the runtime.
#include <omp.h>

#include "busy.h"

#ifdef FIXED
#define CHUNK 512
#else
#define CHUNK 1
#endif

int main(void) {
  calibrate();
  const long piece = steps_of(0.02);
  const long iterations = 1500000L * omp_get_max_threads();
  double sum = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel for schedule(dynamic, CHUNK) reduction(+ : sum)  // PLANTED
    for (long i = 0; i < iterations; ++i) sum += work(piece);
  }
  return print_checksum(sum);
}
