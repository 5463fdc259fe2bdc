// SPDX-License-Identifier: Apache-2.0
// What MPI knows of what a call waits for.
#pragma once

#include <cstddef>

#include "mpi/library/waits/call.h"

namespace weft::mpi {

// Its name, or its handle if it has none; empty: there is no communicator.
void name_communicator(MPI_Comm communicator, char* text, size_t room) noexcept;

// -1: not known.
long long bytes_of(const Description& what) noexcept;

}  // namespace weft::mpi
