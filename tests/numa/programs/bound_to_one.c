// SPDX-License-Identifier: Apache-2.0
// A fault: threads of all nodes initialise and use the array, but a policy keeps it on one.
#include "program.h"

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  double *array = allocate();
  place(array, length * sizeof(double), BIND, 1UL << node_of_this_thread());
  initialise_in_parallel(array);
  use(sum_in_parallel, array);
  free(array);
  return 0;
}
