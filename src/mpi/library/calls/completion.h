// SPDX-License-Identifier: Apache-2.0
// Calls that wait for requests which the program has started.
#pragma once

#include "mpi/library/mpi.h"

namespace weft::mpi {

int wait(MPI_Request* request, MPI_Status* status) noexcept;
int waitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept;
int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) noexcept;
int waitsome(int count, MPI_Request* requests, int* completed, int* places, MPI_Status* statuses) noexcept;

}  // namespace weft::mpi
