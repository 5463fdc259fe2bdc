// SPDX-License-Identifier: Apache-2.0
// Whether there is work for a carrier. These functions only look: the work may be gone when the caller comes for it.
// Internal to core.
#pragma once

#include "core/sched/work.h"

namespace weft::core {

// Whether `carrier` may run the context of the root `victim`. A root's context runs on its own OS thread, but that
// thread may be stuck in something that waits for this very context. Then a worker runs it; another root would be kept
// from its own context.
inline bool is_abandoned(const Carrier* carrier, const Carrier* victim) noexcept {
  return !carrier->is_root() && victim->abandoned.load(std::memory_order_relaxed) &&
         victim->root_ready.load(std::memory_order_relaxed) != nullptr;
}

// Whether a carrier may take `context` out of another carrier's list: a bound context had better wait for the carrier
// that has its CPUs, unless that carrier does not come.
bool may_take(const Carrier* carrier, const Carrier* victim, const Context* context) noexcept;

// Whether `carrier` may begin the bodiless call of `victim`. That carrier has an identity for it, which others would
// have to make: so others begin it only where `victim` does not come.
bool may_begin(const Carrier* carrier, const Carrier* victim) noexcept;

// Whether there is work for the carrier in the list of `victim`, which may be its own. `near`: work that is to be done
// on its own NUMA node, and at its place.
bool has_work_for(const Carrier* carrier, Carrier* victim, bool near) noexcept;

// The same in all lists.
bool work_in_lists(Carrier* carrier, bool near) noexcept;

// A hint: there is likely something that `carrier` may do.
inline bool work_in_sight(Carrier* carrier) noexcept {
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) return true;
  return pool().allowed(carrier) && work_in_lists(carrier, false);
}

// The same for work that is near. Other places and nodes have carriers of their own, which mostly come first: a carrier
// without near work waits for a moment before it looks at work afar.
inline bool work_near(Carrier* carrier) noexcept {
  if (carrier->is_root() || !pool().nodes.several()) return work_in_sight(carrier);
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) return true;
  return pool().allowed(carrier) && work_in_lists(carrier, true);
}

// How much work there is for workers to take, at this moment.
int pending_work(const Pool& pool) noexcept;

}  // namespace weft::core
