// SPDX-License-Identifier: Apache-2.0
// Requests that complete an event of a task, while the task goes on, or is over but for its events.
#pragma once

#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"

namespace weft::mpi {

// What happens when the requests have completed; called by any thread, without locks.
struct Event {
  void (*come)(const Runtime& runtime, void* argument);
  void* argument;
};

// Takes the requests over: they become MPI_REQUEST_NULL. `statuses` are written before the event comes. The event comes
// once, perhaps before this returns. The code is that of requests that have failed by then. `caller`: of the program's,
// for people.
int detach(const Runtime& runtime, int count, MPI_Request* requests, MPI_Status* statuses, Event event,
           const void* caller) noexcept;

// As an event of the calling task; on the spot if the caller is no task that can have events.
int detach_from_task(const Runtime& runtime, int count, MPI_Request* requests, MPI_Status* statuses,
                     const void* caller) noexcept;

}  // namespace weft::mpi
