/* SPDX-License-Identifier: Apache-2.0 */
/* Says how often it has got through to the MPI of fake_mpi.c, and which of two names that not every MPI has are there. */
#include <stdio.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Send(void);
int MPI_Barrier(int communicator);
int MPI_Finalize(void);
__attribute__((weak)) int MPI_Send_c(void);
__attribute__((weak)) int MPI_Recv_c(void);

int main(int argc, char **argv) {
  int (*volatile const send)(void) = MPI_Send_c, (*volatile const receive)(void) = MPI_Recv_c;
  MPI_Init(&argc, &argv);
  const int reached = MPI_Send() + (send != NULL ? send() : 0) + MPI_Barrier(0);
  printf("%d %s %s\n", reached, send != NULL ? "send" : "-", receive != NULL ? "receive" : "-");
  return MPI_Finalize();
}
