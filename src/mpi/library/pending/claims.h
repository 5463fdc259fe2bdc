// SPDX-License-Identifier: Apache-2.0
// Claims: which of the program's requests pending waits wait for. MPI allows one waiter per request. A second one,
// which has a copy of the handle, would test a request that the first has freed. So weft refuses it.
#pragma once

#include "mpi/library/mpi.h"

namespace weft::mpi {

// Whether a pending wait has claimed one of `requests`.
bool is_waited_for(int count, const MPI_Request* requests) noexcept;

// Claims the requests at the `count` places in `wanted`, or the first `count` where `wanted` is null. Returns false,
// and has claimed nothing, where another wait has claimed one of them.
bool claim(int count, const MPI_Request* requests, const int* wanted) noexcept;

// Ends the claim of a request that has completed. The caller has held g_progress since before the call that completed
// it, since MPI may give the handle to a new request at once.
void disclaim(MPI_Request request) noexcept;

// The error of a call that waits for a request that another wait has claimed: it goes to the handler, and is returned.
int refuse_second_wait() noexcept;

}  // namespace weft::mpi
