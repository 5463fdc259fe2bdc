// SPDX-License-Identifier: Apache-2.0
// Guests: threads of other libraries that run on CPUs of the pool's budget. They hold slots as roots do, so that pool
// workers and guests together are no more than the CPUs (docs/explanation/process.md, oneTBB).
#pragma once

#include "core/budget/guest_link.h"

namespace weft::core {

struct Pool;

// The other library's functions; null: there are none.
void set_guest_side(const GuestSide* side) noexcept;

// The functions of PoolSide that the core can answer.
bool roots_at_work() noexcept;
GuestLoad guest_load() noexcept;
// Of the pool, which has been started: its slots, or what the node leaves to the process.
int cpus_for_all() noexcept;
void hold_for_guests(int slots, int more) noexcept;
void forget_guests() noexcept;
void set_guest_part(GuestPart part) noexcept;

// ---- for the core itself ----
// A tick of the monitor; and whether it has to go on for their sake.
void tick_guests(Pool& pool) noexcept;
bool guests_need_ticks(const Pool& pool) noexcept;

}  // namespace weft::core
