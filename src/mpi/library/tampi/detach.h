// SPDX-License-Identifier: Apache-2.0
// Requests whose completion is an event of a task. The task does not pause: it goes on, or has ended but for its
// events.
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
// once, perhaps before this function returns. Returns the error code of a request that has failed by then. `caller`:
// where the program calls, for messages.
int detach(const Runtime& runtime, int count, MPI_Request* requests, MPI_Status* statuses, Event event,
           const void* caller) noexcept;

// The same with an event of the calling task. Where the caller is no task that can have events, it waits here.
int detach_from_task(const Runtime& runtime, int count, MPI_Request* requests, MPI_Status* statuses,
                     const void* caller) noexcept;

}  // namespace weft::mpi
