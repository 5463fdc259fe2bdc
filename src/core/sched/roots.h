// SPDX-License-Identifier: Apache-2.0
// Carriers of roots, and the slots that they hold. Internal to core.
#pragma once

#include "core/sched/pool.h"

namespace weft::core {

// Takes a carrier for a thread that is not of the pool (null: there are too many), and puts it back.
Carrier* take_root_carrier() noexcept;
void put_root_carrier(Carrier* carrier) noexcept;

// The root ceases to count as running; or counts again.
void release_slot(Carrier* root) noexcept;
void hold_slot(Carrier* root) noexcept;

// note_yield() for this root.
void note_yield_of(Carrier* root) noexcept;

// Takes `count` off `active_roots`: workers may run in their place.
void return_slots(Pool& pool, int count) noexcept;

}  // namespace weft::core
