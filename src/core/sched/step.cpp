// SPDX-License-Identifier: Apache-2.0
#include "core/sched/step.h"

#include <algorithm>
#include <utility>

#include "core/sched/calls.h"
#include "core/sched/fork_join.h"
#include "core/sched/idling.h"
#include "core/sched/switching.h"
#include "core/sched/waking.h"

namespace weft::core {

namespace {

// Whether `carrier` may do the work of `group`: a root helps itself only, so that it is never far away.
bool serves(const Carrier* carrier, const Carrier* group) noexcept { return !carrier->is_root() || carrier == group; }

bool claim_from(Context* self, Carrier* carrier, Carrier* victim, bool newest_first) noexcept {
  const int top = std::min(victim->open_top.load(std::memory_order_acquire), kOpenCalls);
  for (int i = 0; i < top; ++i) {
    ParallelCall* parallel_call = victim->open[newest_first ? top - 1 - i : i].load(std::memory_order_acquire);
    if (parallel_call == nullptr || !parallel_call->claimable()) continue;
    if (!serves(carrier, parallel_call->root.load(std::memory_order_relaxed))) continue;
    if (victim != carrier && !pool().may_do(carrier, parallel_call)) continue;
    const int index = parallel_call->take();
    if (index < 0) continue;
    settle_call(carrier, {parallel_call->root.load(std::memory_order_relaxed), parallel_call}, false);
    run_claimed(self, parallel_call, index);
    return true;
  }
  return false;
}

// A root's context runs on its own OS thread, but not at any price: what that thread is stuck in may be waiting
// for this very context. Its host is a worker: on another root's thread it could keep that one from its own.
bool is_abandoned(const Carrier* carrier, const Carrier* victim) noexcept {
  return !carrier->is_root() && victim->abandoned.load(std::memory_order_relaxed) &&
         victim->root_ready.load(std::memory_order_relaxed) != nullptr;
}

}  // namespace

bool may_take(const Carrier* carrier, const Carrier* victim, const Context* context) noexcept {
  if (carrier->is_root() && context->group != carrier) return false;
  if (!pool().may_do(carrier, context->parallel_call.load(std::memory_order_relaxed))) return false;
  if (context->cpus == nullptr || context->cpus == carrier->cpus.load(std::memory_order_relaxed)) return true;
  return victim->stuck.load(std::memory_order_relaxed) || !may_serve(pool(), victim, work_of(context));
}

bool may_begin(const Carrier* carrier, const Carrier* victim) noexcept {
  const Context* stub = victim->bodiless_ready.load(std::memory_order_acquire);
  if (stub == nullptr) return false;
  const Pool& p = pool();
  const Work work{victim->bodiless_group.load(std::memory_order_relaxed),
                  stub->parallel_call.load(std::memory_order_relaxed)};
  if (!serves(carrier, work.group)) return false;
  if (!p.may_do(carrier, work.parallel_call)) return false;
  return carrier == victim || victim->late.load(std::memory_order_relaxed) || !may_serve(p, victim, work);
}

namespace {

// Does it under the identity of `self`, unless that is about to end.
bool begin_bodiless(Context* self, Carrier* carrier, Carrier* victim) noexcept {
  Context* stub = may_begin(carrier, victim) ? victim->bodiless_ready.exchange(nullptr) : nullptr;
  if (stub == nullptr) return false;
  settle_call(carrier, work_of(stub), victim == carrier);
  const bool ends = self->born < pool().contexts_since.load(std::memory_order_relaxed);
  Context* runner = ends ? take_free(self->carrier, 0) : nullptr;
  if (runner == nullptr) runner = self;
  runner->group = stub->group;
  runner->parallel_call.store(stub->parallel_call.load(std::memory_order_relaxed), std::memory_order_relaxed);
  runner->place = stub->place;
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
  // Where there are more threads than CPUs, this one may have taken its CPU from who is calling the others.
  if (victim == carrier && p.is_oversubscribed()) call_waited_for(p, carrier->worker + 1, 1);
  settle_call(carrier, work_of(context), false);
  switch_counted(self, context, Departure::idle);
  return true;
}

bool resume_root(Context* self, Carrier* carrier) noexcept {
  if (carrier->root_ready.load(std::memory_order_relaxed) == nullptr) return false;
  Context* root = carrier->root_ready.exchange(nullptr);
  if (root == nullptr) return false;
  // Its own OS thread is stuck: what it says there holds for a while.
  if (__builtin_expect(root->rseq == Rseq::refused, 0)) platform::disclaim_rseq(root->thread_pointer);
  settle_call(self->carrier, work_of(root), true);
  switch_counted(self, root, Departure::idle);
  return true;
}

bool serve_others(Context* self, Carrier* carrier) noexcept {
  return visit_others(pool(), carrier, [&](Carrier* victim) {
    if (is_abandoned(carrier, victim) && resume_root(self, victim)) return true;
    return claim_from(self, carrier, victim, false) || begin_bodiless(self, carrier, victim) ||
           resume_from(self, carrier, victim);
  });
}

// Does one piece of work, if there is any. Afterwards `self` may be on another carrier.
bool step(Context* self) noexcept {
  if (self->start != nullptr) {
    void (*start)(void*) = self->start;
    self->start = nullptr;
    start(self->start_argument);
    // As when a context becomes free: this one goes on as such. It may have been free meanwhile, and have the next
    // start.
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
  // A root goes first, unless it has just let others go first.
  const bool root_last = std::exchange(carrier->root_yields, false);
  if (!root_last && resume_root(self, carrier)) return true;
  const bool allowed = pool().allowed(carrier);
  if (allowed || carrier->is_root()) {
    if (begin_bodiless(self, carrier, carrier)) return true;
    if (claim_from(self, carrier, carrier, true)) return true;
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

namespace {

bool has_ready_for(const Carrier* carrier, Carrier* victim) noexcept {
  if (victim->ready.empty()) return false;
  if (carrier == victim) return true;
  if (!carrier->is_root() && !g_binding_used.load(std::memory_order_relaxed) && !pool().is_oversubscribed())
    return true;
  const bool places_hold = carrier->is_root() && !pool().lateness.any();
  return victim->ready.has([=](const Context* ready) {
    // One that has its place would keep the root's own context from the only OS thread it can run on.
    return may_take(carrier, victim, ready) && !(places_hold && ready->place != nullptr);
  });
}

bool has_work_for(const Carrier* carrier, Carrier* victim) noexcept {
  if (is_abandoned(carrier, victim) || may_begin(carrier, victim) || has_ready_for(carrier, victim)) return true;
  const int top = std::min(victim->open_top.load(std::memory_order_acquire), kOpenCalls);
  for (int i = 0; i < top; ++i) {
    const ParallelCall* parallel_call = victim->open[i].load(std::memory_order_acquire);
    if (parallel_call != nullptr && parallel_call->claimable() &&
        serves(carrier, parallel_call->root.load(std::memory_order_relaxed)) &&
        (victim == carrier || pool().may_do(carrier, parallel_call))) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool work_in_sight(Carrier* carrier) noexcept {
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) return true;
  const Pool& p = pool();
  if (!p.allowed(carrier)) return false;
  return has_work_for(carrier, carrier) ||
         visit_others(p, carrier, [carrier](Carrier* victim) { return has_work_for(carrier, victim); });
}

int pending_work(const Pool& p) noexcept {
  int pending = 0;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *p.carrier(i);
    pending += carrier.waiting_contexts();
    const int top = std::min(carrier.open_top.load(std::memory_order_acquire), kOpenCalls);
    for (int k = 0; k < top; ++k) {
      const ParallelCall* parallel_call = carrier.open[static_cast<size_t>(k)].load(std::memory_order_acquire);
      if (parallel_call != nullptr && parallel_call->claimable()) pending += parallel_call->unclaimed();
    }
  }
  return pending;
}

}  // namespace weft::core
