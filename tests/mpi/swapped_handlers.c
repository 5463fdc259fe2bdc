/* SPDX-License-Identifier: Apache-2.0 */
/* An MPI with the standard's ABI that has the numbers of MPI_ERRORS_RETURN and MPI_ERRORS_ABORT the other way round, made of
 * one that has them as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static MPI_Errhandler swapped(MPI_Errhandler handler) {
  if (handler == MPI_ERRORS_RETURN) return MPI_ERRORS_ABORT;
  return handler == MPI_ERRORS_ABORT ? MPI_ERRORS_RETURN : handler;
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  return NEXT(PMPI_Comm_set_errhandler)(comm, swapped(handler));
}

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler) {
  const int code = NEXT(PMPI_Comm_get_errhandler)(comm, handler);
  *handler = swapped(*handler);
  return code;
}

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *handler) {
  const int code = NEXT(PMPI_File_get_errhandler)(file, handler);
  *handler = swapped(*handler);
  return code;
}
