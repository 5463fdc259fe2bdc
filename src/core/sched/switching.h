// SPDX-License-Identifier: Apache-2.0
// Switches from one context to another, as a carrier does them. Internal to core.
#pragma once

#include "core/sched/carrier.h"

namespace weft::core {

// Leaves `self` for `target`; `departure` says what `target` has to do with `self`. Returns when `self` goes on; at
// once where a donor runs signal handlers of `target`, which is made ready after them.
void switch_counted(Context* self, Context* target, Departure departure) noexcept;

// The same for a context that waits: its call needs the whole context from now on, and is counted as a block.
inline void leave_to(Context* self, Context* successor, Departure departure) noexcept {
  self->carrier->statistics.blocks.add();
  switch_counted(self, successor, departure);
}

// Called by the context that continues: does what is to be done with the one that has just been left.
void departed(Context* left) noexcept;

}  // namespace weft::core
