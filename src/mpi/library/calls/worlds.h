// SPDX-License-Identifier: Apache-2.0
// Jobs that meet (MPI_Comm_spawn, MPI_Comm_connect) have each agreed for themselves whether collectives are converted.
// So a collective of several worlds stays blocking: helpers make it.
#pragma once

#include "mpi/library/mpi.h"

namespace weft::mpi {

// Whether the communicator may have ranks of several worlds; the answer is the same on all of them. True of any
// intercommunicator: worlds meet by those.
bool may_span_worlds(MPI_Comm communicator) noexcept;

// To be called where an intercommunicator has been merged into this communicator.
void note_merged(MPI_Comm communicator) noexcept;

int intercomm_merge(MPI_Comm communicator, int high, MPI_Comm* merged) noexcept;
// The same for a call after which the program goes on at `caller`.
int intercomm_merge_from(const void* caller, MPI_Comm communicator, int high, MPI_Comm* merged) noexcept;

}  // namespace weft::mpi
