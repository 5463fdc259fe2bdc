// SPDX-License-Identifier: Apache-2.0
// Fault: serial_part
// 40 % of the time one thread works, outside of regions: behind each region of 30 ms it does 20 ms alone.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 50, PIECES = 200 };

int main(void) {
  calibrate();
  const int threads = omp_get_max_threads();
  const long parallel_piece = steps_of(30e3 * threads / PIECES);
  const long serial_piece = steps_of(20e3 / PIECES);
  double sum = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    // A serial part is named by the region that it is behind.
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)  // PLANTED
    for (int i = 0; i < PIECES; ++i) sum += work(parallel_piece);
#ifdef FIXED
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
#endif
    for (int i = 0; i < PIECES; ++i) sum += work(serial_piece);
  }
  return print_checksum(sum);
}
