// SPDX-License-Identifier: Apache-2.0
// A program with much memory, for `bench/run numa-cost`: two arrays, initialised and read in parallel, as the BLAS would.
// Arguments: megabytes of both together, passes. Prints the seconds of the initialisation, of the passes, and of all.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  const double began = omp_get_wtime();
  const size_t megabytes = count > 1 ? strtoul(arguments[1], NULL, 10) : 2048;
  const int passes = count > 2 ? atoi(arguments[2]) : 20;
  const size_t length = megabytes * (1 << 20) / sizeof(double) / 2;
  double *a = malloc(length * sizeof *a);
  double *b = malloc(length * sizeof *b);
  if (a == NULL || b == NULL) return 1;
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < length; ++i) {
    a[i] = 1;
    b[i] = 2;
  }
  const double initialised = omp_get_wtime();
  double sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (size_t i = 0; i < length; ++i) sum += a[i] * b[i];
  }
  const double ended = omp_get_wtime();
  printf("%.6f %.6f %.6f\n", initialised - began, ended - initialised, ended - began);
  return sum == 2.0 * (double)length * passes ? 0 : 1;
}
