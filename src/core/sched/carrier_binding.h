// SPDX-License-Identifier: Apache-2.0
// Affinity masks of carriers' OS threads, for the thread of the carrier itself. Internal to core; contexts are bound by
// core/sched/binding.h.
#pragma once

#include <atomic>

#include "core/sched/carrier.h"

namespace weft::core {

void bind_carrier(Carrier* carrier, const platform::CpuSet* cpus) noexcept;
void bind_new_worker(Carrier* carrier) noexcept;

// To be called where the carrier has run a bound context and now runs none.
void leave_binding(Carrier* carrier) noexcept;

// Takes a carrier back to its own CPUs, before it runs a context that is not bound, or waits: it may still be where it
// has run a context that is bound elsewhere, or that has bound itself.
inline void return_to_place(Carrier* carrier) noexcept {
  if (carrier->own_cpus != nullptr) {
    bind_carrier(carrier, carrier->own_cpus);
  } else if ((!carrier->is_root() || carrier->own_context.pinned) &&
             carrier->cpus.load(std::memory_order_relaxed) != nullptr) {
    leave_binding(carrier);
  }
}

// For a thread that is no carrier.
void use_all_cpus() noexcept;

// Whether any context has ever been bound. Relaxed: a carrier that sees it late looks for nothing once.
extern std::atomic<bool> g_binding_used;

}  // namespace weft::core
