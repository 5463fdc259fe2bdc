// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/tickets/tickets.h"

#include <sched.h>

#include "mpi/library/tickets/pending.h"
#include "platform/cycles.h"

namespace weft::mpi {

namespace {

// Those that the next look takes in, the last one first.
std::atomic<Ticket*> g_submitted{nullptr};

// With g_progress held.
Pending g_pending;
Ticket* g_attempts = nullptr;

// Takes in what was submitted.
void take_in() noexcept {
  // Acquire pairs with the release of submit(): what the ticket says is visible.
  Ticket* ticket = g_submitted.exchange(nullptr, std::memory_order_acquire);
  while (ticket != nullptr) {
    Ticket* next = ticket->next;
    if (ticket->attempt != nullptr) {
      ticket->next = g_attempts;
      g_attempts = ticket;
    } else if (!g_pending.add(*ticket)) {
      // No memory now: it comes again.
      ticket->next = g_submitted.load(std::memory_order_relaxed);
      while (!g_submitted.compare_exchange_weak(ticket->next, ticket, std::memory_order_release,
                                                std::memory_order_relaxed)) {
      }
    }
    ticket = next;
  }
}

void try_attempts(Ticket*& ended) noexcept {
  for (Ticket** link = &g_attempts; *link != nullptr;) {
    Ticket* ticket = *link;
    if (!ticket->attempt(*ticket)) {
      link = &ticket->next;
      continue;
    }
    *link = ticket->next;
    ticket->next = ended;
    ended = ticket;
  }
}

// Ends what has completed, unless somebody else is looking.
void look() noexcept {
  if (!g_progress.try_lock()) return;
  Ticket* ended = nullptr;
  take_in();
  g_pending.sweep(ended);
  try_attempts(ended);
  g_progress.unlock();
  while (ended != nullptr) {
    Ticket* ticket = ended;
    ended = ticket->next;
    g_tickets_waiting.fetch_sub(1);
    ticket->ended(*ticket);
  }
}

}  // namespace

void submit(const Runtime& runtime, Ticket& ticket) noexcept {
  ticket.began = platform::now_ns();
  // Before it can end. Sequentially consistent, as the load in poll() is: it sees this, or the runtime sees
  // poll_soon().
  const bool first = g_tickets_waiting.fetch_add(1) == 0;
  // Relaxed: the exchange below checks it.
  ticket.next = g_submitted.load(std::memory_order_relaxed);
  // Release pairs with the acquire of take_in().
  while (
      !g_submitted.compare_exchange_weak(ticket.next, &ticket, std::memory_order_release, std::memory_order_relaxed)) {
  }
  if (first) runtime.poll_soon();
}

void pause_for(const Runtime& runtime, Ticket& ticket) noexcept {
  ticket.runtime = &runtime;
  ticket.context = runtime.context();
  ticket.ended = [](Ticket& ended) { ended.runtime->unblock(ended.context); };
  // The ticket may end on another thread while this one still submits it; it stays until block() has returned.
  weft_blocking_context* context = ticket.context;
  submit(runtime, ticket);
  runtime.block(context);
}

int poll(void*) noexcept {
  // Whoever has the lock instead looks for one message only, but soon gives it back.
  look();
  return g_tickets_waiting.load();
}

void visit_tickets(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept {
  while (!g_progress.try_lock()) sched_yield();
  take_in();
  g_pending.each([&](const Ticket& ticket) { visit(*ticket.call, ticket.began, argument); });
  for (const Ticket* ticket = g_attempts; ticket != nullptr; ticket = ticket->next) {
    visit(*ticket->call, ticket->began, argument);
  }
  g_progress.unlock();
}

}  // namespace weft::mpi
