// SPDX-License-Identifier: Apache-2.0
// A fault: the array is bound to one node, and all threads run on another.
#include "program.h"

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  const int here = node_of_this_thread();
#pragma omp parallel
  stay_on(here);
  double *array = allocate();
  place(array, length * sizeof(double), BIND, 1UL << other_node(here));
  initialise_in_parallel(array);
  use(sum_in_parallel, array);
  free(array);
  return 0;
}
