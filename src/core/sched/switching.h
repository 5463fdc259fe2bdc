// SPDX-License-Identifier: Apache-2.0
// Switches from one context to another, as a carrier does them. Internal to core.
#pragma once

#include "core/sched/carrier.h"

namespace weft::core {

// Leaves `self` to `target`; `departure` is what that has to do with `self`. Returns when `self` goes on; at once where
// handlers of signals run in the place of `target`, which is made ready behind them.
void switch_counted(Context* self, Context* target, Departure departure) noexcept;

// The same for a context that waits: its call has been promoted to a context of its own.
inline void leave_to(Context* self, Context* successor, Departure departure) noexcept {
  self->carrier->statistics.blocks.add();
  switch_counted(self, successor, departure);
}

// By the context that continues: what is to be done with the one that has just been left.
void departed(Context* left) noexcept;

}  // namespace weft::core
