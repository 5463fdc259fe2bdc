// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/pending/pending_wait.h"

#include <sched.h>

#include "mpi/library/pending/requests.h"
#include "platform/cycles.h"

namespace weft::mpi {

namespace {

// Waits that have been submitted and that the next look takes in, the latest one first.
std::atomic<PendingWait*> g_submitted{nullptr};

// With g_progress held.
PendingRequests g_requests;
PendingWait* g_attempts = nullptr;

// Takes in the waits that have been submitted.
void take_in() noexcept {
  // Acquire pairs with the release of submit(): the fields of the waits are visible.
  PendingWait* pending = g_submitted.exchange(nullptr, std::memory_order_acquire);
  while (pending != nullptr) {
    PendingWait* next = pending->next;
    if (pending->attempt != nullptr) {
      pending->next = g_attempts;
      g_attempts = pending;
    } else if (!g_requests.add(*pending)) {
      // There is no memory now: the wait is submitted again, for the next look.
      pending->next = g_submitted.load(std::memory_order_relaxed);
      while (!g_submitted.compare_exchange_weak(pending->next, pending, std::memory_order_release,
                                                std::memory_order_relaxed)) {
      }
    }
    pending = next;
  }
}

void try_attempts(PendingWait*& ended) noexcept {
  for (PendingWait** link = &g_attempts; *link != nullptr;) {
    PendingWait* pending = *link;
    if (!pending->attempt(*pending)) {
      link = &pending->next;
      continue;
    }
    *link = pending->next;
    pending->next = ended;
    ended = pending;
  }
}

// Tests everything that is pending and ends what has completed, unless another thread is doing so.
void look() noexcept {
  if (!g_progress.try_lock()) return;
  PendingWait* ended = nullptr;
  take_in();
  g_requests.sweep(ended);
  try_attempts(ended);
  g_progress.unlock();
  while (ended != nullptr) {
    PendingWait* pending = ended;
    ended = pending->next;
    g_pending_waits.fetch_sub(1);
    pending->ended(*pending);
  }
}

}  // namespace

void submit(const Runtime& runtime, PendingWait& pending) noexcept {
  pending.began = platform::now_ns();
  // The wait is counted before it can end. Sequentially consistent, as the load in poll() is: either poll() sees the
  // count, or the runtime sees the call of poll_soon() below.
  const bool first = g_pending_waits.fetch_add(1) == 0;
  // Relaxed: the exchange below checks it.
  pending.next = g_submitted.load(std::memory_order_relaxed);
  // Release pairs with the acquire of take_in().
  while (!g_submitted.compare_exchange_weak(pending.next, &pending, std::memory_order_release,
                                            std::memory_order_relaxed)) {
  }
  if (first) runtime.poll_soon();
}

void pause_for(const Runtime& runtime, PendingWait& pending) noexcept {
  pending.runtime = &runtime;
  pending.context = runtime.context();
  pending.ended = [](PendingWait& ended) { ended.runtime->unblock(ended.context); };
  // The wait may end on another thread while this one still submits it; the object stays until block() has returned.
  weft_blocking_context* context = pending.context;
  submit(runtime, pending);
  runtime.block(context);
}

int poll(void*) noexcept {
  // A thread that waits in place may hold the lock, so that this look does nothing. It tests its own request only, and
  // soon gives the lock back.
  look();
  return g_pending_waits.load();
}

void visit_pending_waits(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept {
  while (!g_progress.try_lock()) sched_yield();
  take_in();
  g_requests.each([&](const PendingWait& pending) { visit(*pending.call, pending.began, argument); });
  for (const PendingWait* pending = g_attempts; pending != nullptr; pending = pending->next) {
    visit(*pending->call, pending->began, argument);
  }
  g_progress.unlock();
}

}  // namespace weft::mpi
