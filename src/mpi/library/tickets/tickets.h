// SPDX-License-Identifier: Apache-2.0
// What waits for MPI while nobody waits in MPI. A ticket is a task, or the events of one, and the requests that it
// waits for. One thread at a time looks at all of them together; the one that sees the last request of a ticket
// complete ends the ticket.
#pragma once

#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"
#include "mpi/library/waits/call.h"

namespace weft::mpi {

struct Ticket {
  // Set by whoever waits; whatever they point to stays until the ticket has ended. Either requests: `wanted` are the
  // places of those that are active, null for all of `count`.
  MPI_Request* requests = nullptr;
  MPI_Status* statuses = MPI_STATUSES_IGNORE;  // by the same places
  const int* wanted = nullptr;
  int count = 0;
  bool claimed = false;  // they are the program's (waited.h)
  // Or an attempt, made again and again until it says true.
  bool (*attempt)(Ticket& ticket) = nullptr;
  // Called without locks, once; the ticket may be gone when it returns.
  void (*ended)(Ticket& ticket) = nullptr;

  // What it is, for people.
  const Call* call = nullptr;

  // Of the last request that failed.
  int code = MPI_SUCCESS;

  // Of pause_for().
  const Runtime* runtime = nullptr;
  weft_blocking_context* context = nullptr;

  // Of tickets.cpp.
  Ticket* next = nullptr;
  int left = 0;
  int64_t began = 0;
};

// Whoever waits for a message tries with this lock held: MPI is slow when several threads look at the same time.
class ProgressLock {
 public:
  // Acquire pairs with the release of unlock(): what the last holder has written is visible.
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};
inline ProgressLock g_progress;

// Hands the ticket over; it may have ended when this returns.
void submit(const Runtime& runtime, Ticket& ticket) noexcept;

// Pauses the caller until the ticket, which it has filled in but for `ended`, has ended.
void pause_for(const Runtime& runtime, Ticket& ticket) noexcept;

// The polling service: how many tickets are left.
int poll(void* data) noexcept;

// The calls of all tickets, and when they were handed over. Nobody looks meanwhile, so none of them ends.
void visit_tickets(void (*visit)(const Call& call, int64_t began, void* argument), void* argument) noexcept;

}  // namespace weft::mpi
