// SPDX-License-Identifier: Apache-2.0
// Carriers of threads that are not the pool's, and the slots that they hold. Internal to core.
#pragma once

#include "core/sched/pool.h"

namespace weft::core {

// A carrier for a thread that is not the pool's; null: there are too many. And back.
Carrier* take_root_carrier() noexcept;
void put_root_carrier(Carrier* carrier) noexcept;

// The root ceases to count as running; and counts again.
void release_slot(Carrier* root) noexcept;
void hold_slot(Carrier* root) noexcept;

// note_yield() for this root.
void note_yield_of(Carrier* root) noexcept;

// That many of `active_roots` have gone: workers may run in their place.
void return_slots(Pool& pool, int count) noexcept;

}  // namespace weft::core
