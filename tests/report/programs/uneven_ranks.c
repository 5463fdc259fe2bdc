// SPDX-License-Identifier: Apache-2.0
// An MPI program (mpi_test.py): rank 0 computes longer than the others, which wait for it. What it does else is said by
// its first argument.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double g_sink;

// For so many milliseconds, by every thread.
static void compute(double ms) {
#pragma omp parallel reduction(+ : g_sink)
  {
    const double end = omp_get_wtime() + ms * 1e-3;
    while (omp_get_wtime() < end) g_sink += 1;
  }
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  int rank = 0, value = 0, level = 0;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(what, "silent") == 0 && rank == 1) _exit(0);
  compute(rank == 0 ? 600 : 100);
  if (strcmp(what, "abort") == 0 && rank == 0) abort();
  if (strcmp(what, "mpi_abort") == 0 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  if (strcmp(what, "exit") == 0 && rank == 1) _exit(0);
  if (strcmp(what, "tasks") == 0) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 4; ++i) {
#pragma omp task firstprivate(i, value)
      if (rank == 0) {
        usleep(i == 0 ? 300000 : 0);
        MPI_Send(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
      } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // tasks wait here
      }
    }
  }
  if (rank == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // ranks wait here
  }
  compute(rank == 0 ? 400 : 100);
  MPI_Barrier(MPI_COMM_WORLD);  // and here
  MPI_Finalize();
  printf("done\n");
  return 0;
}
