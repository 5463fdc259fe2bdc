/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that counts calls, in the usual way: functions of MPI's names, which call those with a P before. */
#include <mpi.h>
#include <stdio.h>

static int starts, sends, receives;

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  ++starts;
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Ssend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  __atomic_fetch_add(&sends, 1, __ATOMIC_SEQ_CST);
  return PMPI_Ssend(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
  __atomic_fetch_add(&receives, 1, __ATOMIC_SEQ_CST);
  return PMPI_Recv(buffer, count, type, from, tag, comm, status);
}

int MPI_Finalize(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("%d: tool: %d starts, %d sends, %d receives\n", rank, starts, sends, receives);
  fflush(stdout);
  return PMPI_Finalize();
}
