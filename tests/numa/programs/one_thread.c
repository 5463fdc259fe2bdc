// SPDX-License-Identifier: Apache-2.0
// Clean: one thread initialises the array and uses it.
#include "program.h"

static double sum_alone(const double *array) {
  double sum = 0;
  for (size_t i = 0; i < length; ++i) sum += array[i];
  return sum;
}

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  double *array = allocate();
  initialise(array);
  use(sum_alone, array);
  free(array);
  return 0;
}
