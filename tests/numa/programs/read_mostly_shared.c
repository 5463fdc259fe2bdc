// SPDX-License-Identifier: Apache-2.0
// Clean: every thread reads the whole array, so that no node is the right one.
#include "program.h"

static double sum_by_each(const double *array) {
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    // From different places on, so that not all touch the same page at the same time.
    const size_t from = length / (size_t)omp_get_num_threads() * (size_t)omp_get_thread_num();
    for (size_t i = 0; i < length; ++i) sum += array[(from + i) % length];
  }
  return sum;
}

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  double *array = allocate();
  initialise(array);
  use(sum_by_each, array);
  free(array);
  return 0;
}
