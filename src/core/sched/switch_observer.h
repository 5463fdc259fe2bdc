// SPDX-License-Identifier: Apache-2.0
// The observer of switches: a tool, or the count of CPU time. Internal to core.
#pragma once

#include <atomic>

#include "core/sched/carrier.h"

namespace weft::core {

// Read at every switch, written hardly ever. Acquire: a thread that sees the function sees what it uses.
extern std::atomic<SwitchObserver> g_switch_observer;

inline void observe(const Context* self, bool leaving) noexcept {
  const SwitchObserver observer = g_switch_observer.load(std::memory_order_acquire);
  if (__builtin_expect(observer != nullptr, 0)) observer(leaving, self->carrier->index);
}

// From now on switches count CPU time too (core/sched/cpu_time.h). May be called by handlers of signals.
void count_cpu_time_at_switches() noexcept;

}  // namespace weft::core
