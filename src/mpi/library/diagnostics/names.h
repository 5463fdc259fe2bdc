// SPDX-License-Identifier: Apache-2.0
// The names that the program gives to communicators, kept here: MPI may hold its locks for long, and the thread that
// says who waits for what must not wait for them.
#pragma once

#include <cstddef>

#include "mpi/library/mpi.h"

namespace weft::mpi {

// These replace MPI_Comm_set_name, MPI_Comm_free and MPI_Comm_disconnect.
int set_name(MPI_Comm communicator, const char* name) noexcept;
int free_communicator(MPI_Comm* communicator) noexcept;
int disconnect_communicator(MPI_Comm* communicator) noexcept;

// Writes the name of the communicator, or its handle if it has no name; an empty text for MPI_COMM_NULL.
void name_communicator(MPI_Comm communicator, char* text, size_t room) noexcept;

}  // namespace weft::mpi
