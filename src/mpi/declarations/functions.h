// SPDX-License-Identifier: Apache-2.0
// What the mpi.h of each ABI ends with: the functions. Their prototypes in C are the same for all MPIs (MPI 5.0,
// appendix A.3), but for the types that the ABI has declared before.
#pragma once

extern "C" {

using MPI_Comm_copy_attr_function = int(MPI_Comm, int key, void* extra, void* value, void* copy, int* copied);
using MPI_Comm_delete_attr_function = int(MPI_Comm, int key, void* value, void* extra);
using MPI_Comm_errhandler_function = void(MPI_Comm*, int* code, ...);

double MPI_Wtime();

#define FUNCTION(name, ...)    \
  int MPI_##name(__VA_ARGS__); \
  int PMPI_##name(__VA_ARGS__);
#include "mpi/declarations/functions.def"
#define COUNT int
#define DISPLACEMENT int
#include "mpi/declarations/counted.def"
#undef DISPLACEMENT
#undef COUNT
#undef FUNCTION

// MPIs before version 4 of the standard lack these.
#define FUNCTION(name, ...) [[gnu::weak]] int PMPI_##name##_c(__VA_ARGS__);
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#include "mpi/declarations/counted.def"
#undef DISPLACEMENT
#undef COUNT
#undef FUNCTION
}
