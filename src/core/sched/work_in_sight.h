// SPDX-License-Identifier: Apache-2.0
// What there is for a carrier to do. Looks only, nothing is taken: work may be gone when the caller comes for it.
// Internal to core.
#pragma once

#include "core/sched/work.h"

namespace weft::core {

// A root's context runs on its own OS thread, but not at any price: what that thread is stuck in may be waiting
// for this very context. Its host is a worker: on another root's thread it could keep that one from its own.
inline bool is_abandoned(const Carrier* carrier, const Carrier* victim) noexcept {
  return !carrier->is_root() && victim->abandoned.load(std::memory_order_relaxed) &&
         victim->root_ready.load(std::memory_order_relaxed) != nullptr;
}

// Whether a carrier may take `context` out of another one's list: a context that is bound had better wait for the
// carrier that has its CPUs, unless that carrier does not come.
bool may_take(const Carrier* carrier, const Carrier* victim, const Context* context) noexcept;

// Whether `carrier` may begin what has been left to `victim`: that has an identity for it, which others would have to
// make. So they do only where it does not come.
bool may_begin(const Carrier* carrier, const Carrier* victim) noexcept;

// What work_in_sight() finds in lists, its own or others'. `near`: what is to be done on its own
// NUMA node, and at its place.
bool work_in_lists(Carrier* carrier, bool near) noexcept;

// A hint: there is likely something that `carrier` may do.
inline bool work_in_sight(Carrier* carrier) noexcept {
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) return true;
  return pool().allowed(carrier) && work_in_lists(carrier, false);
}

// The same, as far as it is near. Other places and nodes have carriers of their own, which mostly come first:
// who has nothing to do near waits for a moment before it goes far.
inline bool work_near(Carrier* carrier) noexcept {
  if (carrier->is_root() || !pool().nodes.several()) return work_in_sight(carrier);
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) return true;
  return pool().allowed(carrier) && work_in_lists(carrier, true);
}

// Work that is there for workers to take; a look at a moment.
int pending_work(const Pool& pool) noexcept;

}  // namespace weft::core
