// SPDX-License-Identifier: Apache-2.0
// Fault: small_tasks
// A tree whose every node is a task, down to leaves of a tenth of a microsecond.
#include <omp.h>
#include <stdbool.h>

#include "busy.h"

enum { ROUNDS = 10, DEPTH = 20 };

static long leaf = 0;

static bool worth_a_task(int depth) {
#ifdef FIXED
  return depth > DEPTH - 8;
#else
  return depth > 0;
#endif
}

static double visit(int depth) {
  if (depth == 0) return work(leaf);
  if (!worth_a_task(depth)) return visit(depth - 1) + visit(depth - 1);
  double left = 0;
  double right = 0;
#pragma omp task shared(left)  // PLANTED
  left = visit(depth - 1);
#pragma omp task shared(right)  // PLANTED
  right = visit(depth - 1);
#pragma omp taskwait
  return left + right;
}

int main(void) {
  calibrate();
  leaf = steps_of(0.1);
  double sum = 0;
  for (int round = 0; round < ROUNDS * omp_get_max_threads(); ++round) {
#pragma omp parallel
#pragma omp single
    sum += visit(DEPTH);
  }
  return print_checksum(sum);
}
