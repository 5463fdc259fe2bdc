// SPDX-License-Identifier: Apache-2.0
// How a carrier waits that has nothing to do. Internal to core.
#pragma once

#include "core/sched/carrier.h"

namespace weft::core {

// Until there may be something to do. `in_place`: on the stack of a context that waits, or until it is notified.
void rest(Context* self, bool in_place) noexcept;

// The same for the carrier of `self`, until there may be something that it may do.
void idle(Context* self) noexcept;

}  // namespace weft::core
