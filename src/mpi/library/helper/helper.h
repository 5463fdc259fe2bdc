// SPDX-License-Identifier: Apache-2.0
// Blocking calls that MPI has no non-blocking twin for are made by a thread that may wait in MPI, while the task is
// paused.
#pragma once

#include <cstdint>

#include "mpi/library/runtime.h"
#include "mpi/library/waits/call.h"

namespace weft::mpi {

// Calls of one order are made one by one, as they come; 0: a call that may overtake any other.
using Order = uintptr_t;

// What is to be called; `call` gets itself. Stays until it has been called.
struct Job {
  int (*call)(Job& job) = nullptr;
  Order order = 0;
  int code = 0;
  // What it is, for people.
  const Call* described = nullptr;

  // Of helper.cpp.
  int64_t began = 0;
  Job* next = nullptr;
  const Runtime* runtime = nullptr;
  weft_blocking_context* context = nullptr;
};

// Pauses the caller until it has been called; returns what it returned. The call is made in place where there is nobody
// to give the CPU to, and where no thread can be made.
int call_on_helper(const Runtime& runtime, Job& job) noexcept;

// The calls of all jobs, and when they were handed over. None of them ends meanwhile.
void visit_jobs(void (*visit)(const Call& call, int64_t began, void* argument), void* argument) noexcept;

}  // namespace weft::mpi
