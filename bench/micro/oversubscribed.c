// SPDX-License-Identifier: Apache-2.0
// Constructs that make all members wait, meant for OMP_NUM_THREADS beyond the CPUs.
#include <omp.h>

#include "common/measure.h"

static double barrier(const measurement* self, long count) {
  (void)self;
  double start = 0, end = 0;
#pragma omp parallel
  {
#pragma omp barrier
    if (omp_get_thread_num() == 0) start = now();
    for (long i = 0; i < count; i++) {
#pragma omp barrier
    }
    if (omp_get_thread_num() == 0) end = now();
  }
  return end - start;
}

// Each member works some microseconds between the barriers.
static double work_and_barrier(const measurement* self, long count) {
  (void)self;
  const double start = now();
#pragma omp parallel
  for (long i = 0; i < count; i++) {
    work(20);
#pragma omp barrier
  }
  return now() - start;
}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {
      {.name = "barrier", .run = barrier}, {.name = "work_and_barrier", .run = work_and_barrier}, {0}};
  return measure_family(argument_count, arguments, "oversubscribed", measurements);
}
