// SPDX-License-Identifier: Apache-2.0
// Waits for messages that no thread waits for inside MPI: the task has paused, or goes on and has an event that is
// still to come. A pending wait has the requests that the task or the event waits for. One thread at a time tests the
// requests of all pending waits together. The thread that sees the last request of a wait complete ends the wait.
#pragma once

#include "mpi/library/diagnostics/call.h"
#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"

namespace weft::mpi {

struct PendingWait {
  // The fields down to `call` are set by the caller that waits; what they point to stays until the wait has ended.
  //
  // Either it waits for requests. `wanted` has the places in `requests` of those that are active, `count` of them;
  // null: the first `count` are.
  MPI_Request* requests = nullptr;
  MPI_Status* statuses = MPI_STATUSES_IGNORE;  // by the same places as `requests`
  const int* wanted = nullptr;
  int count = 0;
  bool claimed = false;  // the program has started the requests itself, and they are claimed (claims.h)
  // Or it waits for an attempt, which is made again and again until it returns true.
  bool (*attempt)(PendingWait& pending) = nullptr;
  // Called once, without locks, when the wait has ended; it may free the object.
  void (*ended)(PendingWait& pending) = nullptr;

  // Describes the call that waits, for messages.
  const Call* call = nullptr;

  // The error code of the last request that has failed.
  int code = MPI_SUCCESS;

  // Set by pause_for(): whom to unblock.
  const Runtime* runtime = nullptr;
  weft_blocking_context* context = nullptr;

  // Used by pending_wait.cpp and requests.cpp alone.
  PendingWait* next = nullptr;
  int left = 0;       // requests that have not completed
  int64_t began = 0;  // when submit() was called
};

// A thread holds this lock while it tests requests of pending waits, or in spin_until() what a call in a parallel
// region waits for: MPI is slow when several threads test at the same time. A call's other tests of its own
// requests go without the lock (wait.cpp).
class ProgressLock {
 public:
  // Acquire pairs with the release of unlock(): what the last holder has written is visible.
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};
inline ProgressLock g_progress;

// Hands the wait over; it may have ended when this returns.
void submit(const Runtime& runtime, PendingWait& pending) noexcept;

// Submits the wait, which the caller has filled in but for `ended`, and pauses the caller until it has ended.
void pause_for(const Runtime& runtime, PendingWait& pending) noexcept;

// The polling service, which the runtime calls: tests once, and returns how many waits are left.
int poll(void* data) noexcept;

// Calls visit() with the call of each pending wait and the time when the wait was handed over. No wait ends meanwhile.
void visit_pending_waits(void (*visit)(const Call& call, int64_t began, void* argument), void* argument) noexcept;

}  // namespace weft::mpi
