// SPDX-License-Identifier: Apache-2.0
// Clean: each thread initialises what it uses.
#include "program.h"

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  double *array = allocate();
  initialise_in_parallel(array);
  use(sum_in_parallel, array);
  free(array);
  return 0;
}
