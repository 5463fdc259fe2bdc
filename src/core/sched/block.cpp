// SPDX-License-Identifier: Apache-2.0
// A context that waits leaves its carrier to what is ready, else waits in place, else leaves it to a free context.
#include "core/sched/block.h"

#include "core/context/signals.h"
#include "core/sched/blocking.h"
#include "core/sched/call_passing.h"
#include "core/sched/free_contexts.h"
#include "core/sched/idle.h"
#include "core/sched/pool.h"
#include "core/sched/ready.h"
#include "core/sched/release_idle.h"
#include "core/sched/spinning.h"
#include "core/sched/switching.h"
#include "core/sched/waking.h"
#include "core/sched/work.h"
#include "core/sched/work_in_sight.h"
#include "core/sched/yield_round.h"
#include "platform/futex.h"

namespace weft::core {

namespace {

// Takes a context that can go on, in whatever list it stands; or null.
[[gnu::noinline]] Context* ready_anywhere(Carrier* carrier) noexcept {
  Context* ready = nullptr;
  if (!(carrier->is_root() || pool().allowed(carrier))) return nullptr;
  visit_others(pool(), carrier, [&](Carrier* victim) {
    ready = victim->ready.pop_first([=](const Context* context) { return may_take(carrier, victim, context); });
    return ready != nullptr;
  });
  return ready;
}

// Takes a context that can go on in place of `self`, if there is one that need not be made; or null.
[[gnu::always_inline]] inline Context* successor_of(const Context* self) noexcept {
  Carrier* carrier = self->carrier;
  Context* successor =
      carrier->root_ready.load(std::memory_order_relaxed) != nullptr ? carrier->root_ready.exchange(nullptr) : nullptr;
  if (successor == nullptr && (carrier->is_root() || pool().allowed(carrier))) {
    successor = carrier->ready.pop(carrier->is_root() ? carrier : nullptr);
  }
  // Where threads come late to their CPUs, a context in another carrier's list may wait long for that carrier's thread.
  if (successor == nullptr && pool().lateness.any()) successor = ready_anywhere(carrier);
  // The carrier may have been poked just after it had ceased to wait, or in order to end its wait.
  take_poke(carrier);
  if (successor != nullptr) {
    settle_call(carrier, work_of(successor), successor->home != nullptr);
    return successor;
  }
  // A free context that has not served the same parallel call as `self`, since it will probably find work of that one.
  // Where it does not fit the work that it finds, it hands that over; mostly it saves a switch.
  successor = find_at_hand(carrier, self->last_parallel_call);
  return successor != nullptr ? successor : find_free(carrier, 0);
}

// A context that yields lets its carrier do first what it would do next. Returns a ready context, if that comes next,
// so that no free context is needed to look for it; else null.
Context* next_in_line(Carrier* carrier) noexcept {
  if (ends_round(carrier)) return nullptr;
  // Relaxed: what has come a moment ago comes after the next yield.
  const bool others_first = carrier->root_ready.load(std::memory_order_relaxed) != nullptr ||
                            carrier->bodiless_ready.load(std::memory_order_relaxed) != nullptr ||
                            carrier->open_top.load(std::memory_order_relaxed) > 0;
  if (others_first || pool().is_oversubscribed() || !(carrier->is_root() || pool().allowed(carrier))) return nullptr;
  return carrier->ready.pop(carrier->is_root() ? carrier : nullptr);
}

// Whether the carrier of `self` may go on with `self`.
[[gnu::always_inline]] inline bool may_go_on(const Pool& p, const Context* self) noexcept {
  const Carrier* carrier = self->carrier;
  return carrier->is_root() || p.allowed_for(carrier, self->parallel_call.load(std::memory_order_relaxed));
}

// To be called when a context has seen that it is notified, before it looks at its condition. It is an exchange, since
// the context may have been notified once more: a store would delete that notice, and would not acquire what its sender
// has written before.
[[gnu::always_inline]] inline void take_notice(Context* self) noexcept { self->token.exchange(Token::none); }

// Waits on the caller's own stack. Returns true when the context has been notified; false when the carrier has
// something else to do. So contexts are made to work, not to sleep in: flat regions need none.
bool rest_in_place(Context* self) noexcept {
  Carrier* carrier = self->carrier;
  Pool& p = pool();
  // A carrier that may not run had better leave the context to carriers that may; and nobody finds a carrier that
  // stands in no table.
  if (!carrier->is_listed() || p.node.moves_slots() || !may_go_on(p, self)) return false;
  // Where the carrier's thread may have to wait for its CPU, a context had better wait in a list, where any carrier
  // that runs can go on with it; for a root that is not possible. Not so where the process's own threads share its
  // CPUs: all of them come late then, and each would need one context more.
  if (self->home == nullptr && !p.shares_its_cpus && carrier->lateness.any()) return false;
  self->rests_on.store(carrier, std::memory_order_relaxed);
  do {
    release_in_place(self);
    uint32_t expected = Token::none;
    if (!self->token.compare_exchange_strong(expected, Token::resting)) break;
    rest(self, true);
    expected = Token::resting;
    if (!self->token.compare_exchange_strong(expected, Token::none)) break;
    if (work_in_sight(carrier)) return false;
    if (!may_go_on(p, self)) decline_call(carrier);
  } while (true);
  take_notice(self);
  // The carrier goes on with this context, which no other carrier can do.
  settle_call(carrier, work_of(self), true);
  if (may_go_on(p, self)) return true;
  if (Context* successor = take_free(carrier, 0)) switch_counted(self, successor, Departure::yield);
  return true;
}

// Waits where the system refuses the identity under which the carrier could begin something new. Contexts that have
// begun can go on on this carrier all the same. They may become ready in lists whose carriers do not call this one, so
// it looks from time to time.
void wait_without_identity(Context* self) noexcept {
  constexpr int64_t kLookNs = 1'000'000;
  for (;;) {
    Context* successor = successor_of(self);
    if (successor == nullptr) successor = ready_anywhere(self->carrier);
    if (successor != nullptr) {
      leave_to(self, successor, Departure::block);
      return;
    }
    uint32_t expected = Token::none;
    if (!self->token.compare_exchange_strong(expected, Token::sleeping)) break;
    if (self->carrier->is_listed()) {
      platform::futex_wait_for(self->token, Token::sleeping, kLookNs);
    } else {
      platform::futex_wait(self->token, Token::sleeping);
    }
    expected = Token::sleeping;
    if (!self->token.compare_exchange_strong(expected, Token::none)) break;
  }
  take_notice(self);
  pass_call_on();
}

}  // namespace

void block() noexcept {
  Context* self = current_context();
  uint32_t expected = Token::notified;
  if (self->token.compare_exchange_strong(expected, Token::none)) {
    pass_call_on();
    return;
  }
  if (Context* successor = successor_of(self)) {
    leave_to(self, successor, Departure::block);
    return;
  }
  if (rest_in_place(self) || leave(self, Departure::block)) return;
  wait_without_identity(self);
}

bool leave(Context* self, Departure departure) noexcept {
  Context* successor = successor_of(self);
  if (successor == nullptr && self->carrier->is_listed()) successor = make_free();
  if (successor == nullptr) return false;
  leave_to(self, successor, departure);
  return true;
}

void unblock(Context* context) noexcept {
  uint32_t seen = context->token.load();
  // A context that is held goes on by the thread that holds it: this call meant an earlier wait or life.
  while (seen != Token::held) {
    const uint32_t next = seen == Token::suspended ? uint32_t{Token::none} : uint32_t{Token::notified};
    if (!context->token.compare_exchange_weak(seen, next)) continue;
    if (seen == Token::suspended) make_ready(context);
    if (seen == Token::resting) call(context->rests_on.load(std::memory_order_relaxed));
    if (seen == Token::sleeping) platform::futex_wake(context->token, 1);
    return;
  }
}

bool yield() noexcept {
  Context* self = current_context();
  if (self->carrier == nullptr || runs_handlers_of_another() ||
      !(wanted_elsewhere(self) || work_in_sight(self->carrier)))
    return false;
  Context* successor = next_in_line(self->carrier);
  if (successor != nullptr) {
    settle_call(self->carrier, work_of(successor), false);
  } else {
    successor = take_free(self->carrier, 0);
    if (successor == nullptr) {
      self->carrier->yield_round.serves_first = nullptr;
      return false;
    }
    // Tells the free context, which looks for work next, that a root has just yielded.
    self->carrier->root_yields = self->home == self->carrier;
  }
  switch_counted(self, successor, Departure::yield);
  return true;
}

void return_home(Context* root) noexcept {
  while (root->carrier != root->home) {
    Context* successor = take_free(root->carrier, 0);
    if (successor == nullptr) return;  // it stays a guest until its next region ends
    switch_counted(root, successor, Departure::yield);
  }
}

}  // namespace weft::core
