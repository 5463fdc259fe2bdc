// SPDX-License-Identifier: Apache-2.0
// Combined parallel loops, flat and nested, as weftcc lowers them: one source for all compilers. flat_N: a loop of N us of
// work. reduction_N: the same with a reduction. AxB: A outer iterations, each of which opens a loop of B. The outer loop's
// schedule is OMP_SCHEDULE; whether the inner regions are parallel is OMP_MAX_ACTIVE_LEVELS.
#include <time.h>

#include "common/measure.h"
#include "loops/nests.h"

static double flat(const measurement* self, long count) {
  const int steps = flat_steps(self->a);
  const double start = now();
  for (long k = 0; k < count; k++) {
#pragma omp parallel for
    for (int i = 0; i < flat_iterations; i++) work_steps(steps);
  }
  return now() - start;
}

static double reduction(const measurement* self, long count) {
  const int steps = flat_steps(self->a);
  double sum = 0;
  const double start = now();
  for (long k = 0; k < count; k++) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < flat_iterations; i++) {
      work_steps(steps);
      sum += i;
    }
  }
  __asm__ volatile("" : : "x"(sum));
  return now() - start;
}

static double run_nest(struct nest nest, long count) {
  const double start = now();
  for (long k = 0; k < count; k++) {
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < nest.outer; i++) {
      const int inner = inner_iterations(&nest, i);
#pragma omp parallel for
      for (int j = 0; j < inner; j++) work_steps(short_steps);
    }
  }
  return now() - start;
}

static double square_nest(const measurement* self, long count) {
  return run_nest((struct nest){square, self->a, self->b}, count);
}

static double triangle_nest(const measurement* self, long count) {
  return run_nest((struct nest){triangle, self->a, 0}, count);
}

static double power_nest(const measurement* self, long count) {
  return run_nest((struct nest){power_law, self->a, self->b}, count);
}

// Iterations that sleep take no CPU, so that more members than CPUs show how work spreads.
static double sleeping_nest(const measurement* self, long count) {
  const struct timespec time = {.tv_nsec = 200000};
  const double start = now();
  for (long k = 0; k < count; k++) {
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < self->a; i++) {
#pragma omp parallel for
      for (int j = 0; j < self->b; j++) nanosleep(&time, 0);
    }
  }
  return now() - start;
}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {{.name = "flat_1", .run = flat, .a = 1},
                                             {.name = "flat_5", .run = flat, .a = 5},
                                             {.name = "flat_10", .run = flat, .a = 10},
                                             {.name = "flat_50", .run = flat, .a = 50},
                                             {.name = "flat_1000", .run = flat, .a = 1000},
                                             {.name = "reduction_10", .run = reduction, .a = 10},
                                             {.name = "8x8", .run = square_nest, .a = 8, .b = 8},
                                             {.name = "64x4", .run = square_nest, .a = 64, .b = 4},
                                             {.name = "8x64", .run = square_nest, .a = 8, .b = 64},
                                             {.name = "3x64", .run = square_nest, .a = 3, .b = 64},
                                             {.name = "triangle", .run = triangle_nest, .a = 64},
                                             {.name = "power_law", .run = power_nest, .a = 32, .b = 1024},
                                             {.name = "sleeping_3x16", .run = sleeping_nest, .a = 3, .b = 16},
                                             {0}};
  return measure_family(argument_count, arguments, "loops", measurements);
}
