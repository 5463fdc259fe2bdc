// SPDX-License-Identifier: Apache-2.0
// Flat and nested loops of short iterations, built by weftcc and run under each WEFT_ENGINE.
#include "common/measure.h"
#include "engines/nests.h"

static void flat(int steps) {
#pragma omp parallel for
  for (int i = 0; i < FLAT; i++) iterate(steps);
}

static void nest(int steps) {
#pragma omp parallel for
  for (int i = 0; i < ROWS; i++) {
#pragma omp parallel for
    for (int j = 0; j < COLUMNS; j++) iterate(steps);
  }
}

static void triangle(int steps) {
#pragma omp parallel for
  for (int i = 0; i < TRIANGLE; i++) {
#pragma omp parallel for
    for (int j = 0; j <= i; j++) iterate(steps);
  }
}

static double run_flat(const measurement* self, long count) {
  const double start = now();
  for (long i = 0; i < count; i++) flat(self->a);
  return now() - start;
}

static double run_nest(const measurement* self, long count) {
  const double start = now();
  for (long i = 0; i < count; i++) nest(self->a);
  return now() - start;
}

static double run_triangle(const measurement* self, long count) {
  const double start = now();
  for (long i = 0; i < count; i++) triangle(self->a);
  return now() - start;
}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {{.name = "flat64_short", .run = run_flat, .a = SHORT},
                                             {.name = "flat64_long", .run = run_flat, .a = LONG},
                                             {.name = "nest8x64_short", .run = run_nest, .a = SHORT},
                                             {.name = "nest8x64_long", .run = run_nest, .a = LONG},
                                             {.name = "triangle64_short", .run = run_triangle, .a = SHORT},
                                             {0}};
  return measure_family(argument_count, arguments, "engine_loops", measurements);
}
