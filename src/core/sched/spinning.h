// SPDX-License-Identifier: Apache-2.0
// Waiting in place, for a bounded time. Every function is thread-safe.
#pragma once

#include <cstdint>
#include <utility>

#include "core/context/context.h"
#include "core/sched/cpu_spread.h"
#include "core/sched/polling.h"
#include "platform/cycles.h"

namespace weft::core {

// How long a waiter may spin; 0 where waiting is passive.
long spin_ns() noexcept;
void set_spin_ns(long ns) noexcept;

// Whether a carrier whose context has waited in place for `waited_ns` owes its CPU to another process of the node.
bool owed_to_node(int64_t waited_ns) noexcept;

// Whether the caller's carrier has other work, or owes its CPU to another process.
bool wanted_elsewhere(const Context* self) noexcept;

// Whether more OS threads than there are CPUs may run, since regions need them or WEFT_NUM_CPUS says so. Then waiters
// sleep.
bool is_oversubscribed() noexcept;

// For a context that waits in place and has last looked `since_ns` ago: whether its OS thread comes late now and then,
// so that the context had better leave it (core/sched/lateness.h).
bool comes_late(const Context* self, int64_t now_ns, int64_t since_ns) noexcept;

// Whether the OS thread of the caller's carrier has a place, which it cannot leave.
bool is_bound(const Context* self) noexcept;

// begin_waiting() says that the caller only waits, so that its carrier has time; end_waiting() takes that back.
// `goes_on`: the caller goes on; otherwise it is about to leave its carrier.
void begin_waiting(const Context* self) noexcept;
void end_waiting(const Context* self, bool goes_on) noexcept;

// For a context that has waited for a while on a root's OS thread: the thread may do work that other carriers have been
// called for and have not come for.
void offer_thread(const Context* self) noexcept;

// Waits in place for done(), for a bounded time and only while nothing else wants the CPU. Returns false where the
// caller had better block.
template <class Done>
bool spin_until(const Context* self, Done&& done) noexcept {
  if (done()) return true;
  const long budget = spin_ns();
  if (budget == 0) return false;
  constexpr unsigned kSpinsPerLook = 16;
  constexpr unsigned kSpinsPerTime = 64;
  constexpr int64_t kOfferNs = 50'000;
  // A bound thread that comes late shares its CPU with another process, to which each yield gives a time slice. So it
  // keeps the CPU while the wait may still be a brief one.
  constexpr int64_t kBoundNs = 50'000;
  int64_t deadline = 0;
  int64_t looked = 0;
  bool finished = false;
  bool offered = false;
  CpuSpread spread;
  for (unsigned spins = 0;; ++spins) {
    if (spins % kSpinsPerLook == 0 && wanted_elsewhere(self)) break;
    platform::pause();
    if ((finished = done())) break;
    if (spins % kSpinsPerTime == kSpinsPerTime - 1) {
      poll();
      const int64_t now = platform::now_ns();
      if (deadline == 0) {
        deadline = now + budget;
        begin_waiting(self);
        looked = now;
      }
      const int64_t waited = now - (deadline - budget);
      const bool is_late = comes_late(self, now, now - std::exchange(looked, now));
      if (is_late && (waited > kBoundNs || !is_bound(self))) break;
      if (!offered && waited > kOfferNs) {
        offered = true;
        offer_thread(self);
      }
      if (now > deadline || is_oversubscribed() || owed_to_node(waited)) break;
      if (is_late) continue;
      spread.look(self->carrier, now, waited);
      if (spread.has_given_way() && polls()) break;
    }
  }
  if (deadline != 0) end_waiting(self, finished);
  return finished;
}

}  // namespace weft::core
