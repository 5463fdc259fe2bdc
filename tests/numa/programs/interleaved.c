// SPDX-License-Identifier: Apache-2.0
// Clean: whoever interleaves pages does it on purpose.
#include "program.h"

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  const int here = node_of_this_thread();
  double *array = allocate();
  place(array, length * sizeof(double), INTERLEAVE, 1UL << here | 1UL << other_node(here));
  initialise(array);
  use(sum_in_parallel, array);
  free(array);
  return 0;
}
