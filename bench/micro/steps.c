// SPDX-License-Identifier: Apache-2.0
// A program as most are: steps, each a loop that all members share. For quotas, under which CPUs are taken away.
#include "common/measure.h"

// One to three milliseconds of work. work() counts by 100 ns or less.
enum { PIECES = 64, UNITS = 500 };

static double steps(const measurement* self, long count) {
  (void)self;
  const double start = now();
  for (long step = 0; step < count; step++) {
#pragma omp parallel for schedule(static)
    for (int piece = 0; piece < PIECES; piece++) work(UNITS);
  }
  return now() - start;
}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {{.name = "steps", .run = steps}, {0}};
  return measure_family(argument_count, arguments, "steps", measurements);
}
