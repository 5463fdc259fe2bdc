// SPDX-License-Identifier: Apache-2.0
// Which of the program's requests tickets wait for. MPI allows one waiter; a second one, with a copy of the handle,
// would test what the first has freed. So it is refused instead.
#pragma once

#include "mpi/library/mpi.h"

namespace weft::mpi {

// Whether a ticket waits for one of `requests`.
bool is_waited_for(int count, const MPI_Request* requests) noexcept;

// For a ticket that is about to wait for the requests at the places `wanted`, null for all of `count`. False: another
// one waits for one of them, nothing has been claimed.
bool claim(int count, const MPI_Request* requests, const int* wanted) noexcept;

// With g_progress held, since the call that has completed the request: its handle may be given again at once.
void disclaim(MPI_Request request) noexcept;

// The error of a call that waits for such a request: it goes to the handler, and is returned.
int refuse_second_wait() noexcept;

}  // namespace weft::mpi
