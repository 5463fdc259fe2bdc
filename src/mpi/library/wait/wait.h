// SPDX-License-Identifier: Apache-2.0
// The one way in which converted calls wait. The caller tests once whether the request is complete. Then it tests again
// in place, for a short while, as long as its CPU has nothing else to do. Then its task pauses (mpi/library/pending).
#pragma once

#include "mpi/library/diagnostics/call.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"

namespace weft::mpi {

// Waits for a request that this library has started, and completes it as MPI_Wait does. Returns the error code that the
// blocking call returns; the error handler has been called then. Here and below, `call` describes the waiting call for
// messages and traces.
int wait_for(const Runtime& runtime, MPI_Request& request, MPI_Status* status, const Origin& origin,
             const Call& call) noexcept;

// MPI_Wait and MPI_Waitall: for requests that the program has started.
int wait_for_programs(const Runtime& runtime, MPI_Request& request, MPI_Status* status, const Call& call) noexcept;
int wait_for_all(const Runtime& runtime, int count, MPI_Request* requests, MPI_Status* statuses,
                 const Call& call) noexcept;

// Waits for something that has no request, until attempt(argument) returns true. Any thread may call `attempt`, one
// thread at a time, with an object `Inside`.
void wait_until(const Runtime& runtime, bool (*attempt)(void* argument), void* argument, const Call& call) noexcept;

// Completes each request that is done or inactive, as MPI_Test does, and writes the places of all others into `active`,
// which has room for `count`. Returns how many those are; `code` becomes the error code of a request that has failed,
// if one has.
int split_active(int count, MPI_Request* requests, MPI_Status* statuses, int* active, int& code) noexcept;

}  // namespace weft::mpi
