// SPDX-License-Identifier: Apache-2.0
// Clean: a loop with schedule(dynamic) has any thread use any part.
#include "program.h"

static double sum_in_pieces(const double *array) {
  double sum = 0;
#pragma omp parallel for schedule(dynamic, 4096) reduction(+ : sum)
  for (size_t i = 0; i < length; ++i) sum += array[i];
  return sum;
}

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  double *array = allocate();
  initialise_in_parallel(array);
  use(sum_in_pieces, array);
  free(array);
  return 0;
}
