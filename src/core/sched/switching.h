// SPDX-License-Identifier: Apache-2.0
// From one context to another on the same carrier. Internal to core.
#pragma once

#include "core/sched/pool.h"

namespace weft::core {

// Read at every switch, written hardly ever. Acquire: with the function comes what it uses.
extern std::atomic<SwitchObserver> g_switch_observer;
inline void observe(const Context* self, bool leaving) noexcept {
  const SwitchObserver observer = g_switch_observer.load(std::memory_order_acquire);
  if (__builtin_expect(observer != nullptr, 0)) observer(leaving, self->carrier->index);
}

// A root leaves its OS thread for the first time: from now on that one may run others, and others may run the root.
[[gnu::cold, gnu::noinline]] void leave_rseq_of(Context* root) noexcept;

inline void switch_counted(Context* self, Context* target, Departure departure) noexcept {
  Carrier* carrier = self->carrier;
  carrier->statistics.switches.add();
  if (__builtin_expect(self->rseq == Rseq::held, 0)) leave_rseq_of(self);
  if (target->cpus != nullptr) bind_carrier(carrier, target->cpus);
  self->departure = departure;
  observe(self, true);
  switch_between(self, target);
  observe(self, false);
  self->departure = Departure::none;
}

inline void leave_to(Context* self, Context* successor, Departure departure) noexcept {
  self->carrier->statistics.blocks.add();
  switch_counted(self, successor, departure);
}

// What is to become of `left`, once the carrier has left its stack.
void departed(Context* left) noexcept;

}  // namespace weft::core
