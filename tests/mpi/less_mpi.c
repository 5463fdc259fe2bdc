/* SPDX-License-Identifier: Apache-2.0 */
/* An MPI that has less than the one behind it: LESS_MPI says what, "multiple" or "version". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int lacks(const char *what) { return strcmp(getenv("LESS_MPI"), what) == 0; }

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  int (*const real)(int *, char ***, int, int *) = dlsym(RTLD_NEXT, "PMPI_Init_thread");
  return real(argc, argv, lacks("multiple") ? MPI_THREAD_SINGLE : required, provided);
}

int PMPI_Get_library_version(char *version, int *length) {
  int (*const real)(char *, int *) = dlsym(RTLD_NEXT, "PMPI_Get_library_version");
  const int code = real(version, length);
  char *number = strpbrk(version, "0123456789");
  if (lacks("version")) *number = '1';
  return code;
}
