// SPDX-License-Identifier: Apache-2.0
// Which carriers could use a slot of the node. Internal to core.
#pragma once

#include "core/sched/pool.h"

namespace weft::core {

inline bool asleep(const Carrier& carrier) noexcept {
  return carrier.wake.load(std::memory_order_relaxed) == Wake::sleeping;
}

inline bool root_lacks_slot(const Carrier& carrier) noexcept {
  return carrier.is_root() && carrier.holds_slot.load(std::memory_order_relaxed) &&
         carrier.slot.load(std::memory_order_relaxed) == Slot::none && !asleep(carrier);
}

// Whether a worker runs without a slot: its slot was taken away while it ran, or its thread has been lent.
inline bool worker_lacks_slot(const Pool& p, const Carrier& carrier) noexcept {
  const int slot = carrier.slot.load(std::memory_order_relaxed);
  return !carrier.is_root() && (slot == Slot::taken || slot == Slot::lent) && !p.is_idle(&carrier) && !asleep(carrier);
}

inline bool worker_could_use(const Pool& p, const Carrier& carrier) noexcept {
  return !carrier.is_root() && carrier.worker < p.worker_limit() &&
         carrier.slot.load(std::memory_order_relaxed) == Slot::none && p.is_idle(&carrier);
}

}  // namespace weft::core
