/* SPDX-License-Identifier: Apache-2.0 */
/* Says whether its MPI has calls for large counts, as it is and as the dynamic linker says, and that MPI works. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#pragma weak MPI_Send_c
int MPI_Send_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);

int main(int argc, char **argv) {
  int (*volatile const linked)(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm) = MPI_Send_c;
  const int has = dlsym(RTLD_DEFAULT, "PMPI_Send_c") != NULL;
  int sent = 5, received = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Irecv(&received, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  if (linked != NULL) {
    linked(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  } else {
    MPI_Send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const int looked_up = dlsym(RTLD_DEFAULT, "MPI_Send_c") != NULL;
  if (has != (linked != NULL) || has != looked_up) printf("has %d, linked %d, looked up %d\n", has, linked != NULL, looked_up);
  printf("received %d\n", received);
  return MPI_Finalize();
}
