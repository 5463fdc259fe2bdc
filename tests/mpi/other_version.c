/* SPDX-License-Identifier: Apache-2.0 */
/* Makes rank 1 greet the others as another version of weft would (src/mpi/meeting.h). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  int (*const real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Isend");
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (tag == 32701 && rank == 1) ++*(int *)data;
  return real(data, count, type, to, tag, comm, request);
}
