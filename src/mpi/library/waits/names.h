// SPDX-License-Identifier: Apache-2.0
// The names that the program gives to communicators, kept here: MPI may have its locks held for long, and whoever says
// who waits for what must not wait.
#pragma once

#include <cstddef>

#include "mpi/library/mpi.h"

namespace weft::mpi {

// In the place of MPI's functions.
int set_name(MPI_Comm communicator, const char* name) noexcept;
int free_communicator(MPI_Comm* communicator) noexcept;
int disconnect_communicator(MPI_Comm* communicator) noexcept;

// Its name, or its handle if it has none; empty: there is no communicator.
void name_communicator(MPI_Comm communicator, char* text, size_t room) noexcept;

}  // namespace weft::mpi
