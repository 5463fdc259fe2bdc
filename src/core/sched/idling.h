// SPDX-License-Identifier: Apache-2.0
// Carriers that have nothing to do. Internal to core.
#pragma once

#include "core/sched/pool.h"

namespace weft::core {

// Until there may be something to do. `in_place`: on the stack of a context that waits, or until it is notified.
void rest(Context* self, bool in_place) noexcept;

// Until there may be something to do that the carrier of `self` may do.
void idle(Context* self) noexcept;

// Wakes one for whatever work there is: as call(), but it passes the call on where it does something else.
void call_to_work(Carrier* carrier) noexcept;
// Wakes a carrier that may run again, if there is something for it to do.
void wake_for_work(Carrier* carrier) noexcept;

}  // namespace weft::core
