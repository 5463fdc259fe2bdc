// SPDX-License-Identifier: Apache-2.0
// Fault: nested_serial
// Environment: OMP_MAX_ACTIVE_LEVELS=1
// One section has nearly all the work. The library that does it has a region of its own, which gets one thread since
// regions within regions are switched off.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 30, PIECES = 200 };

static double solve(void) {
  const long piece = steps_of(80e3 / PIECES);
  double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)  // PLANTED
  for (int i = 0; i < PIECES; ++i) sum += work(piece);
  return sum;
}

int main(void) {
  calibrate();
#ifdef FIXED
  omp_set_max_active_levels(2);
#endif
  double solved = 0;
  double written = 0;
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
      solved += solve();
#pragma omp section
      written += work(steps_of(4e3));
    }
  }
  return print_checksum(solved + written);
}
