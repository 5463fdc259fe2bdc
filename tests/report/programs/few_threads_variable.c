// SPDX-License-Identifier: Apache-2.0
// Fault: few_threads
// Environment: OMP_NUM_THREADS=1
// The program is right. The variable is left over from another machine.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 20, PIECES = 200 };

int main(void) {
  calibrate();
#ifdef FIXED
  omp_set_num_threads(omp_get_num_procs());
#endif
  const long piece = steps_of(120e3 / PIECES);
  double sum = 0;
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)  // PLANTED
    for (int i = 0; i < PIECES; ++i) sum += work(piece);
  }
  return print_checksum(sum);
}
