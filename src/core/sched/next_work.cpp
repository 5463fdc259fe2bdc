// SPDX-License-Identifier: Apache-2.0
// What a carrier does next: the loop that free contexts run.
#include "core/sched/upcalls.h"

#include <algorithm>
#include <utility>

#include "core/sched/call_passing.h"
#include "core/sched/fork_join.h"
#include "core/sched/free_contexts.h"
#include "core/sched/idle.h"
#include "core/sched/pool.h"
#include "core/sched/switching.h"
#include "core/sched/waking.h"
#include "core/sched/work.h"
#include "core/sched/work_in_sight.h"
#include "platform/cycles.h"
#include "platform/rseq.h"

namespace weft::core {

namespace {

// Claims a member of a parallel call of `victim` and runs it. `near`: only calls whose members are to run on the
// carrier's NUMA node.
bool claim_from(Context* self, Carrier* carrier, Carrier* victim, bool newest_first, bool near) noexcept {
  const int top = std::min(victim->open_top.load(std::memory_order_acquire), kOpenCalls);
  for (int i = 0; i < top; ++i) {
    ParallelCall* parallel_call = victim->open[newest_first ? top - 1 - i : i].load(std::memory_order_acquire);
    if (parallel_call == nullptr || !parallel_call->claimable()) continue;
    if (!serves(carrier, parallel_call->root.load(std::memory_order_relaxed))) continue;
    if (victim != carrier && !may_claim(carrier, victim, parallel_call, near)) continue;
    const int index = parallel_call->take();
    if (index < 0) continue;
    settle_call(carrier, {parallel_call->root.load(std::memory_order_relaxed), parallel_call}, false);
    run_claimed(self, parallel_call, index);
    return true;
  }
  return false;
}

// Begins the context without a body that `victim` has ready; it runs as `self`, unless that identity is about to end.
bool begin_bodiless(Context* self, Carrier* carrier, Carrier* victim) noexcept {
  Context* stub = may_begin(carrier, victim) ? victim->bodiless_ready.exchange(nullptr) : nullptr;
  if (stub == nullptr) return false;
  settle_call(carrier, work_of(stub), victim == carrier);
  const bool ends = self->born < pool().contexts_since.load(std::memory_order_relaxed);
  Context* runner = ends ? take_free(self->carrier, 0) : nullptr;
  if (runner == nullptr) runner = self;
  runner->root = stub->root;
  runner->parallel_call.store(stub->parallel_call.load(std::memory_order_relaxed), std::memory_order_relaxed);
  runner->preferred = stub->preferred;
  runner->start = stub->start;
  runner->start_argument = stub->start_argument;
  if (runner != self) switch_counted(self, runner, Departure::idle);
  return true;
}

bool resume_from(Context* self, Carrier* carrier, Carrier* victim) noexcept {
  Pool& p = pool();
  Context* context = nullptr;
  if (victim == carrier) {
    context = carrier->ready.pop(carrier->is_root() ? carrier : nullptr);
  } else {
    context = victim->ready.pop_first([=](const Context* ready) { return may_take(carrier, victim, ready); });
  }
  if (context == nullptr) return false;
  if (victim != carrier) carrier->statistics.steals.add();
  // Where there are more threads than CPUs, this thread may have taken its CPU from the thread that was calling
  // carriers one after the other: this one calls the next of them.
  if (victim == carrier && p.is_oversubscribed()) call_waited_for(p, carrier->worker + 1, 1);
  settle_call(carrier, work_of(context), false);
  switch_counted(self, context, Departure::idle);
  return true;
}

bool resume_root(Context* self, Carrier* carrier) noexcept {
  if (carrier->root_ready.load(std::memory_order_relaxed) == nullptr) return false;
  Context* root = carrier->root_ready.exchange(nullptr);
  if (root == nullptr) return false;
  // The root's own OS thread is stuck, so it does not write into the root's rseq area soon: what is written there now
  // holds for a while.
  if (__builtin_expect(root->rseq == Rseq::refused, 0)) platform::disclaim_rseq(root->thread_pointer);
  settle_call(self->carrier, work_of(root), true);
  switch_counted(self, root, Departure::idle);
  return true;
}

// To be called by a carrier that has been called to another NUMA node, since all carriers there were at work. Waits a
// moment: one of them may be about to have nothing to do, as all look for work between two regions.
void let_near_ones_come(const Carrier* carrier) noexcept {
  constexpr int64_t kPatienceNs = 2'000;
  constexpr int kPausesPerLook = 8;
  const int64_t end = platform::now_ns() + kPatienceNs;
  do {
    for (int i = 0; i < kPausesPerLook; ++i) platform::pause();
  } while (carrier->ready.empty() && platform::now_ns() < end);
}

// `near`: as in claim_from().
bool serve_one(Context* self, Carrier* carrier, Carrier* victim, bool near) noexcept {
  if (is_abandoned(carrier, victim) && resume_root(self, victim)) return true;
  return claim_from(self, carrier, victim, false, near) || begin_bodiless(self, carrier, victim) ||
         resume_from(self, carrier, victim);
}

bool serve_others(Context* self, Carrier* carrier) noexcept {
  const Pool& p = pool();
  bool near = false;
  const auto serve = [&](Carrier* victim) { return serve_one(self, carrier, victim, near); };
  if (carrier->is_root() || !p.nodes.several()) return visit_others(p, carrier, serve);
  // A carrier that has been called comes for a piece of work, wherever it is.
  const bool afar = std::exchange(carrier->looks_afar, false) || carrier->call != Carrier::Call::none;
  // Relaxed: it is a hint; whether there is work is decided at the caller's lists.
  Carrier* caller = carrier->called_by.load(std::memory_order_relaxed);
  if (caller != nullptr) {
    carrier->called_by.store(nullptr, std::memory_order_relaxed);
    if (caller->is_listed() && !p.nodes.near(carrier->index, caller->index)) let_near_ones_come(carrier);
    if (caller != carrier && serve(caller)) return true;
  }
  near = true;
  if (visit_others(p, carrier, only_near(p, carrier, serve))) return true;
  near = false;
  return afar && visit_others(p, carrier, serve);
}

// Does one piece of work, if there is any. Afterwards `self` may be on another carrier.
bool step(Context* self) noexcept {
  if (self->start != nullptr) {
    void (*start)(void*) = self->start;
    self->start = nullptr;
    start(self->start_argument);
    // The context goes on as a free one. It may have been free meanwhile already, and have got the next `start`.
    if (self->start == nullptr) shed(self->carrier, self);
    return true;
  }
  if (self->claimed != nullptr) {
    ParallelCall* parallel_call = self->claimed;
    self->claimed = nullptr;
    run_claimed(self, parallel_call, self->claimed_index);
    return true;
  }
  Carrier* carrier = self->carrier;
  const bool root_last = std::exchange(carrier->root_yields, false);
  const bool allowed = pool().allowed(carrier);
  // Once a round, before the carrier's own contexts, of which the root may be one.
  if (Carrier* first = std::exchange(carrier->yield_round.serves_first, nullptr);
      first != nullptr && allowed && serve_one(self, carrier, first, looks_near(carrier))) {
    return true;
  }
  // A root goes first, unless it has just let others go first.
  if (!root_last && resume_root(self, carrier)) return true;
  if (allowed || carrier->is_root()) {
    if (begin_bodiless(self, carrier, carrier)) return true;
    if (claim_from(self, carrier, carrier, true, false)) return true;
    if (resume_from(self, carrier, carrier)) return true;
  } else {
    decline_call(carrier);
  }
  if (allowed && serve_others(self, carrier)) return true;
  return root_last && resume_root(self, carrier);
}

}  // namespace

void run_for_ever() noexcept {
  Context* self = current_context();
  while (!self->ends) {
    if (!step(self)) idle(self);
  }
}

}  // namespace weft::core
