// SPDX-License-Identifier: Apache-2.0
// Regions inside regions. outer_AxB: a whole region of A members, each of which opens one of B. inner_AxB: one inner
// region, when A members open regions of B one after the other, all regions counted. of_one, serial: inner regions that
// have one member, or whose if clause is false, opened by every member of a team.
#include <omp.h>

#include "common/measure.h"

static double outer_region(const measurement* self, long count) {
  const double start = now();
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(self->a)
    {
#pragma omp parallel num_threads(self->b)
      __asm__ volatile("");
    }
  }
  return now() - start;
}

static double inner_region(const measurement* self, long count) {
  const long each = (count + self->a - 1) / self->a;
  const double start = now();
#pragma omp parallel num_threads(self->a)
  for (long i = 0; i < each; i++) {
#pragma omp parallel num_threads(self->b)
    __asm__ volatile("");
  }
  return (now() - start) * (double)count / (double)(each * self->a);
}

static double serial_region(const measurement* self, long count) {
  double start = 0, end = 0;
#pragma omp parallel
  {
#pragma omp barrier
    if (omp_get_thread_num() == 0) start = now();
    if (self->a == 1) {
      for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(1)
        __asm__ volatile("");
      }
    } else {
      for (long i = 0; i < count; i++) {
#pragma omp parallel if (0)
        __asm__ volatile("");
      }
    }
#pragma omp barrier
    if (omp_get_thread_num() == 0) end = now();
  }
  return end - start;
}

#define NESTED(N) \
  {.name = "outer_" #N "x" #N, .run = outer_region, N, N}, { .name = "inner_" #N "x" #N, .run = inner_region, N, N }

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {NESTED(2),
                                             NESTED(4),
                                             NESTED(8),
                                             NESTED(16),
                                             NESTED(32),
                                             NESTED(64),
                                             {.name = "of_one", .run = serial_region, .a = 1},
                                             {.name = "serial", .run = serial_region},
                                             {0}};
  return measure_family(argument_count, arguments, "nested", measurements);
}
