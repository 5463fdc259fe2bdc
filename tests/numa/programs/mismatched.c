// SPDX-License-Identifier: Apache-2.0
// A fault: the array is initialised in parallel, but the last part by the first thread.
#include "program.h"

static void initialise_backwards(double *array) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < length; ++i) array[length - 1 - i] = 1;
}

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  double *array = allocate();
  initialise_backwards(array);
  use(sum_in_parallel, array);
  free(array);
  return 0;
}
