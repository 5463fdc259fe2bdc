// SPDX-License-Identifier: Apache-2.0
// Rank 1 is killed while the others wait for it: in a short operation, or in the middle of a long one.
#include <signal.h>
#include <time.h>

#include "check.h"

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  const int length = count > 1 ? atoi(arguments[1]) : 1;
  double* in = calloc(length, sizeof(double));
  double* out = calloc(length, sizeof(double));
  for (int i = 0;; ++i) {
    if (check_rank == 1 && i == 300) {
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
      printf("killed %ld.%03ld\n", (long)now.tv_sec, now.tv_nsec / 1000000);
      fflush(stdout);
      raise(SIGKILL);
    }
    MPI_Allreduce(in, out, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
