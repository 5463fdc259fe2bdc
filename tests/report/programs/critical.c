// SPDX-License-Identifier: Apache-2.0
// Fault: critical
// Two thirds of each iteration are in a critical region: two threads wait for each other a quarter of the time.
#include <omp.h>

#include "busy.h"

enum { ITERATIONS = 60000 };

int main(void) {
  calibrate();
  const long before = steps_of(20);
  const long inside = steps_of(40);
  const int iterations = ITERATIONS * omp_get_max_threads() / 2;
  double all = 0;
#ifdef FIXED
#pragma omp parallel for schedule(static, 8) reduction(+ : all)
  for (int i = 0; i < iterations; ++i) {
    all += work(before);
    all += work(inside);
  }
#else
  double found = 0;
#pragma omp parallel for schedule(static, 8) reduction(+ : found)
  for (int i = 0; i < iterations; ++i) {
    found += work(before);
#pragma omp critical  // PLANTED
    all += work(inside);
  }
  all += found;
#endif
  return print_checksum(all);
}
