/* SPDX-License-Identifier: Apache-2.0 */
/* Runs serially unless it is linked with an MPI; so does its library. With CERTAIN it cannot do without one. */
#include <stdio.h>

#ifdef CERTAIN
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
#else
#pragma weak MPI_Init_thread
#pragma weak MPI_Barrier
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
#endif
int MPI_Barrier(void *communicator);

#ifdef LIBRARY
int library_has_mpi(void) { return MPI_Barrier != NULL; }
#else
int library_has_mpi(void);

int main(int argc, char **argv) {
#ifdef CERTAIN
  int provided;
  return MPI_Init_thread(&argc, &argv, 0, &provided);
#else
  puts(MPI_Init_thread != NULL || MPI_Barrier != NULL || library_has_mpi() ? "parallel" : "serial");
  return 0;
#endif
}
#endif
