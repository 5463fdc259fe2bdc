/* SPDX-License-Identifier: Apache-2.0 */
/* An MPI that weft does not know, but for what FAKE_MPI makes it say. As MPIs do, it calls its own functions by names
 * that others may replace, and has their addresses in tables. */
#include <stdlib.h>
#include <string.h>

#ifdef FAKE_OPEN_MPI
int ompi_mpi_comm_world;
#endif
#ifdef FAKE_OPEN_MPI_APART
extern int ompi_mpi_comm_world;
int *fake_world(void) { return &ompi_mpi_comm_world; }
#endif

static int called;

int PMPI_Init(int *argc, char ***argv) {
  (void)argc, (void)argv;
  return 0;
}
int MPI_Init(int *argc, char ***argv) { return PMPI_Init(argc, argv); }
int MPI_Init_thread(int *argc, char ***argv, int required, int *given) {
  *given = required;
  return PMPI_Init(argc, argv);
}
int PMPI_Get_library_version(char *version, int *length) {
  strcpy(version, getenv("FAKE_MPI"));
  *length = (int)strlen(version);
  return 0;
}
int MPI_Send_c(void) { return ++called; }
int (*fake_table[])(void) = {MPI_Send_c};
int MPI_Send(void) { return MPI_Send_c() + fake_table[0](); }
int MPI_Finalize(void) { return 0; }
int MPI_Barrier(void) { return 7; }
int MPI_Bcast(void) { return 0; }
int MPI_Reduce(void) { return 0; }
int MPI_Allreduce(void) { return 0; }
int MPI_Allgather(void) { return 0; }
int MPI_Alltoall(void) { return 0; }
