// SPDX-License-Identifier: Apache-2.0
// How a carrier without work waits. Internal to core.
#pragma once

#include "core/sched/carrier.h"

namespace weft::core {

// Waits until there may be something to do. `in_place`: on the stack of a context that waits, and until that context is
// notified.
void rest(Context* self, bool in_place) noexcept;

// Waits until there may be something that the carrier of `self` may do.
void idle(Context* self) noexcept;

}  // namespace weft::core
