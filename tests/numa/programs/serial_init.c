// SPDX-License-Identifier: Apache-2.0
// A fault: one thread initialises what all use.
#include "program.h"

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  double *array = allocate();
  initialise(array);
  use(sum_in_parallel, array);
  free(array);
  return 0;
}
