// SPDX-License-Identifier: Apache-2.0
// The start and the end of MPI. Tasks call MPI from any thread, so MPI is asked for MPI_THREAD_MULTIPLE. The program
// gets the level that it would get without this library.
#pragma once

#include "mpi/library/mpi.h"

namespace weft::mpi {

int init(int* argc, char*** argv) noexcept;
int init_thread(int* argc, char*** argv, int required, int* provided) noexcept;
int finalize() noexcept;
int query_thread(int* provided) noexcept;
int is_thread_main(int* flag) noexcept;

// The same for Fortran, with MPI's own routine: `start` asks MPI for a level, and says which one it has given.
int start_asked(int required, int* provided, int (*start)(void* argument, int level, int* given),
                void* argument) noexcept;

}  // namespace weft::mpi
