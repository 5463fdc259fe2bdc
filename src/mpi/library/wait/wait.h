// SPDX-License-Identifier: Apache-2.0
// The one way in which converted calls wait: look once; then look in place as long as the CPU has nothing else to do,
// and not for long; then pause.
#pragma once

#include "mpi/library/errors/errors.h"
#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"
#include "mpi/library/waits/call.h"

namespace weft::mpi {

// For a request that this library has started. Completes it as MPI_Wait does; the code is that of the blocking call,
// and its handler has been called. `call`: what waits, for people; as in the other functions.
int wait_for(const Runtime& runtime, MPI_Request& request, MPI_Status* status, const Origin& origin,
             const Call& call) noexcept;

// MPI_Wait and MPI_Waitall, for requests of the program's.
int wait_for_programs(const Runtime& runtime, MPI_Request& request, MPI_Status* status, const Call& call) noexcept;
int wait_for_all(const Runtime& runtime, int count, MPI_Request* requests, MPI_Status* statuses,
                 const Call& call) noexcept;

// For what has no request: until attempt(argument) says true. It is called with `Inside`, by any thread, one at a time.
void wait_until(const Runtime& runtime, bool (*attempt)(void* argument), void* argument, const Call& call) noexcept;

// Those of `requests` that are active, by place, into `active`, which has room for all; the others are completed as by
// MPI_Test. Returns how many; `code` is that of a failure, if there was one.
int split_active(int count, MPI_Request* requests, MPI_Status* statuses, int* active, int& code) noexcept;

}  // namespace weft::mpi
