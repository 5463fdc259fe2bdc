/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a program, with an MPI of its own. */
#include <mpi.h>
#include <stddef.h>

int plug(void) {
  int one = 1, sum = 0;
  MPI_Init(NULL, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Send(&sum, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum;
}
