// SPDX-License-Identifier: Apache-2.0
// Fault: one_node
// Environment: OMP_PROC_BIND=spread OMP_PLACES=cores
// Nodes: 2
// One thread initialises what all threads read, so that all of it lies on that thread's NUMA node.
#include <stdlib.h>

#include "busy.h"

enum { LENGTH = 8 << 20 };  // 64 MB

int main(void) {
  double* array = malloc(LENGTH * sizeof(double));
  if (array == NULL) return 1;
#ifdef FIXED
#pragma omp parallel for schedule(static)
#endif
  for (long i = 0; i < LENGTH; ++i) array[i] = 1;
  double sum = 0;
  long passes = 0;
  const double end = seconds_now() + 6;
  do {
#pragma omp parallel for schedule(static) reduction(+ : sum)  // PLANTED
    for (long i = 0; i < LENGTH; ++i) sum += array[i];
    ++passes;
  } while (seconds_now() < end);
  free(array);
  return print_checksum(sum / (double)passes);
}
