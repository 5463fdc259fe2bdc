// SPDX-License-Identifier: Apache-2.0
// Clean: blocks that are made and freed all the time, by all threads.
#include "program.h"

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  const double end = omp_get_wtime() + seconds;
  double sum = 0;
  const size_t part = length / 16;
#pragma omp parallel reduction(+ : sum)
  while (omp_get_wtime() < end) {
    double *block = malloc(part * sizeof(double));
    if (block == NULL) abort();
    for (size_t i = 0; i < part; ++i) block[i] = 1;
    for (size_t i = 0; i < part; ++i) sum += block[i];
    free(block);
  }
  printf("%g\n", sum);
  return 0;
}
