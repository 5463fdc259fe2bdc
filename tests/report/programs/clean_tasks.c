// SPDX-License-Identifier: Apache-2.0
// Fault: none
// A tree of tasks that ends where a leaf is some 200 microseconds of work.
#include <omp.h>

#include "busy.h"

enum { ROUNDS = 10, DEPTH = 10 };

static long leaf = 0;

static double visit(int depth) {
  if (depth == 0) return work(leaf);
  double left = 0;
  double right = 0;
#pragma omp task shared(left)
  left = visit(depth - 1);
#pragma omp task shared(right)
  right = visit(depth - 1);
#pragma omp taskwait
  return left + right;
}

int main(void) {
  calibrate();
  leaf = steps_of(200);
  double sum = 0;
  for (int round = 0; round < ROUNDS * omp_get_max_threads(); ++round) {
#pragma omp parallel
#pragma omp single
    sum += visit(DEPTH);
  }
  return print_checksum(sum);
}
