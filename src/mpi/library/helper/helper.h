// SPDX-License-Identifier: Apache-2.0
// Helpers: threads that make blocking calls for which MPI has no non-blocking twin. The helper waits in MPI while the
// task is paused.
#pragma once

#include <cstdint>

#include "mpi/library/diagnostics/call.h"
#include "mpi/library/runtime.h"

namespace weft::mpi {

// Calls of the same order are made one by one, as they come; 0: the call may overtake any other.
using Order = uintptr_t;

// A call for a helper; it stays until it has been made. `call` gets the job itself.
struct Job {
  int (*call)(Job& job) = nullptr;
  Order order = 0;
  int code = 0;
  // Describes the call, for messages.
  const Call* described = nullptr;

  // Used by helper.cpp alone.
  int64_t began = 0;
  Job* next = nullptr;
  const Runtime* runtime = nullptr;
  weft_blocking_context* context = nullptr;
};

// Has a helper make the call, pauses the caller meanwhile, and returns what the call has returned. The caller makes the
// call itself where no other task could use the CPU, and where no thread can be made.
int call_on_helper(const Runtime& runtime, Job& job) noexcept;

// Calls visit() with the call of each job and the time when the job was handed over. No job ends meanwhile.
void visit_jobs(void (*visit)(const Call& call, int64_t began, void* argument), void* argument) noexcept;

}  // namespace weft::mpi
