// SPDX-License-Identifier: Apache-2.0
// Which carrier may do which work: a root's carrier does the work of its root only, a worker that of all roots as far
// as it may run. Internal to core.
#pragma once

#include "core/sched/pool.h"

namespace weft::core {

inline Work work_of(const Context* context) noexcept {
  return {context->root, context->parallel_call.load(std::memory_order_relaxed)};
}

// Whether the carrier may do work of its own list, wherever that is to be done.
[[gnu::always_inline]] inline bool may_go_on_with(const Pool& p, const Carrier* carrier, Work work) noexcept {
  return carrier->is_root() ? carrier == work.root : p.allowed_for(carrier, work.parallel_call);
}
// Whether the carrier may do the work. Called up to three times for each context that goes on.
[[gnu::always_inline]] inline bool may_serve(const Pool& p, const Carrier* carrier, Work work) noexcept {
  return p.is_on_nodes_of(work.parallel_call, carrier) && may_go_on_with(p, carrier, work);
}

// Whether `carrier` may do the work of `root`: a root helps itself only, so that it is never far away.
inline bool serves(const Carrier* carrier, const Carrier* root) noexcept {
  return !carrier->is_root() || carrier == root;
}

// Whether the carrier may claim a call of another carrier's list. `near`: only a call that is to be done where the
// carrier is.
inline bool may_claim(const Carrier* carrier, const Carrier* victim, const ParallelCall* parallel_call,
                      bool near) noexcept {
  const Pool& p = pool();
  if (!p.may_do(carrier, parallel_call) || (near && !Pool::is_at_places_of(parallel_call, carrier))) return false;
  return p.is_on_nodes_of(parallel_call, carrier) || victim->calls_wait.load(std::memory_order_relaxed);
}

// A visitor that passes only carriers of the NUMA node of `carrier` on to `visit`.
template <class Visit>
auto only_near(const Pool& p, const Carrier* carrier, Visit& visit) noexcept {
  return
      [&p, carrier, &visit](Carrier* victim) { return p.nodes.near(carrier->index, victim->index) && visit(victim); };
}

// Visits the carriers that may have work for `carrier`, other than itself, until `visit` says true: roots do their own
// work only, so they have none for each other.
template <class Visit>
bool visit_others(const Pool& p, const Carrier* carrier, Visit&& visit) noexcept {
  if (carrier->is_root()) {
    const int count = p.worker_count.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) {
      if (visit(p.worker(i))) return true;
    }
    return false;
  }
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 1; i < count; ++i) {
    const int index = carrier->index + i;
    if (visit(p.carrier(index < count ? index : index - count))) return true;
  }
  return false;
}

}  // namespace weft::core
