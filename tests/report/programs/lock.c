// SPDX-License-Identifier: Apache-2.0
// Fault: lock
// One lock for the whole table, though iterations use different rows of it.
#include <omp.h>

#include "busy.h"

enum { ITERATIONS = 60000, ROWS = 4096 };

#ifdef FIXED
enum { LOCKS = ROWS };
#else
enum { LOCKS = 1 };
#endif

static double table[ROWS];
static omp_lock_t locks[LOCKS];

int main(void) {
  calibrate();
  const long before = steps_of(20);
  const long inside = steps_of(40);
  const int iterations = ITERATIONS * omp_get_max_threads() / 2;
  for (int i = 0; i < LOCKS; ++i) omp_init_lock(&locks[i]);
  double sum = 0;
#pragma omp parallel for schedule(static, 8) reduction(+ : sum)
  for (int i = 0; i < iterations; ++i) {
    sum += work(before);
    const int row = (int)((unsigned)i * 2654435761U % ROWS);
    omp_set_lock(&locks[row % LOCKS]);  // PLANTED
    table[row] += work(inside);
    omp_unset_lock(&locks[row % LOCKS]);
  }
  for (int i = 0; i < LOCKS; ++i) omp_destroy_lock(&locks[i]);
  for (int i = 0; i < ROWS; ++i) sum += table[i];
  return print_checksum(sum);
}
