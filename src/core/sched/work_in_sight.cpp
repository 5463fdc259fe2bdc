// SPDX-License-Identifier: Apache-2.0
#include "core/sched/work_in_sight.h"

#include <algorithm>

#include "core/sched/carrier_binding.h"
#include "core/sched/pool.h"

namespace weft::core {

bool may_take(const Carrier* carrier, const Carrier* victim, const Context* context) noexcept {
  if (carrier->is_root() && context->root != carrier) return false;
  const ParallelCall* parallel_call = context->parallel_call.load(std::memory_order_relaxed);
  if (!pool().may_do(carrier, parallel_call)) return false;
  if (!pool().is_on_nodes_of(parallel_call, carrier) && !victim->stuck.load(std::memory_order_relaxed)) return false;
  if (context->cpus == nullptr || context->cpus == carrier->cpus.load(std::memory_order_relaxed)) return true;
  return victim->stuck.load(std::memory_order_relaxed) || !may_serve(pool(), victim, work_of(context));
}

bool may_begin(const Carrier* carrier, const Carrier* victim) noexcept {
  const Context* stub = victim->bodiless_ready.load(std::memory_order_acquire);
  if (stub == nullptr) return false;
  const Pool& p = pool();
  const Work work{victim->bodiless_root.load(std::memory_order_relaxed),
                  stub->parallel_call.load(std::memory_order_relaxed)};
  if (!serves(carrier, work.root)) return false;
  if (!p.may_do(carrier, work.parallel_call)) return false;
  if (carrier == victim) return true;
  if (!p.is_on_nodes_of(work.parallel_call, carrier)) return victim->late.load(std::memory_order_relaxed);
  return victim->late.load(std::memory_order_relaxed) || !may_serve(p, victim, work);
}

namespace {

bool has_ready_for(const Carrier* carrier, Carrier* victim) noexcept {
  if (victim->ready.empty()) return false;
  if (carrier == victim) return true;
  if (!carrier->is_root() && !g_binding_used.load(std::memory_order_relaxed) && !pool().is_oversubscribed())
    return true;
  const bool comes = !victim->stuck.load(std::memory_order_relaxed) && pool().allowed(victim);
  const bool hints_hold = carrier->is_root() && comes && !pool().lateness.any();
  return victim->ready.has([=](const Context* ready) {
    // A context that prefers a worker is left to workers while they may come: on the root's OS thread it would keep the
    // root's own context from the only thread that this can run on.
    return may_take(carrier, victim, ready) && !(hints_hold && ready->preferred != nullptr);
  });
}

}  // namespace

bool has_work_for(const Carrier* carrier, Carrier* victim, bool near) noexcept {
  if (is_abandoned(carrier, victim) || may_begin(carrier, victim) || has_ready_for(carrier, victim)) return true;
  const int top = std::min(victim->open_top.load(std::memory_order_acquire), kOpenCalls);
  for (int i = 0; i < top; ++i) {
    const ParallelCall* parallel_call = victim->open[i].load(std::memory_order_acquire);
    if (parallel_call != nullptr && parallel_call->claimable() &&
        serves(carrier, parallel_call->root.load(std::memory_order_relaxed)) &&
        (victim == carrier || may_claim(carrier, victim, parallel_call, near))) {
      return true;
    }
  }
  return false;
}

bool work_in_lists(Carrier* carrier, bool near) noexcept {
  const Pool& p = pool();
  const auto has_some = [carrier, near](Carrier* victim) { return has_work_for(carrier, victim, near); };
  if (has_work_for(carrier, carrier, near)) return true;
  return near ? visit_others(p, carrier, only_near(p, carrier, has_some)) : visit_others(p, carrier, has_some);
}

int pending_work(const Pool& p) noexcept {
  int pending = 0;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *p.carrier(i);
    pending += carrier.waiting_contexts();
    const int top = std::min(carrier.open_top.load(std::memory_order_acquire), kOpenCalls);
    for (int k = 0; k < top; ++k) {
      const ParallelCall* parallel_call = carrier.open[k].load(std::memory_order_acquire);
      if (parallel_call != nullptr && parallel_call->claimable()) pending += parallel_call->unclaimed();
    }
  }
  return pending;
}

}  // namespace weft::core
