// SPDX-License-Identifier: Apache-2.0
// The library that the Python programs load by ctypes. Behind PLANTED stands whose fault it is.
#include <omp.h>

#include "busy.h"

#ifdef FIXED
const int fixed = 1;
#define SCHEDULE dynamic, 2
#else
const int fixed = 0;
#define SCHEDULE static
#endif

void start(void) { calibrate(); }

// Each thread works for so long. Returns the pieces of work.
double balanced(double milliseconds) {
  const int pieces = 100 * omp_get_max_threads();
  const long piece = steps_of(milliseconds * 1e3 / 100);
  double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)  // PLANTED serial_part
  for (int i = 0; i < pieces; ++i) sum += work(piece);
  return sum;
}

double triangle(double milliseconds) {
  enum { ROWS = 400 };
  const double unit = milliseconds * 1e3 * omp_get_max_threads() / (0.5 * ROWS * (ROWS + 1));
  double sum = 0;
#pragma omp parallel for schedule(SCHEDULE) reduction(+ : sum)  // PLANTED uneven_static
  for (int i = 0; i < ROWS; ++i) sum += work(steps_of(unit * (i + 1)));
  return sum;
}

// 20 us of each iteration could be done at the same time, 40 us only one after the other.
double shared_total(int iterations) {
  const long before = steps_of(20);
  const long inside = steps_of(40);
  double total = 0;
#ifdef FIXED
#pragma omp parallel for schedule(static, 8) reduction(+ : total)
  for (int i = 0; i < iterations; ++i) total += work(before) + work(inside);
#else
#pragma omp parallel for schedule(static, 8)
  for (int i = 0; i < iterations; ++i) {
    const double part = work(before);
#pragma omp critical  // PLANTED critical
    total += part + work(inside);
  }
#endif
  return total;
}

// Regions of some hundred microseconds, one behind the other.
double many_regions(int regions, double microseconds) {
  const int iterations = 50 * omp_get_max_threads();
  const long piece = steps_of(microseconds / 50);
  double sum = 0;
  for (int region = 0; region < regions; ++region) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < iterations; ++i) sum += work(piece);
  }
  return sum;
}
