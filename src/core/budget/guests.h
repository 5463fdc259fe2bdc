// SPDX-License-Identifier: Apache-2.0
// Guests: threads of other libraries that run on CPUs of the pool's budget. They hold slots as roots do, so that
// workers and guests together are no more than the CPUs (docs/explanation/process.md, oneTBB).
#pragma once

#include "core/budget/guest_link.h"

namespace weft::core {

struct Pool;

// Sets the other library's functions; null: there are none.
void set_guest_side(const GuestSide* side) noexcept;

// Functions of PoolSide that the core implements.
bool roots_at_work() noexcept;
GuestLoad guest_load() noexcept;
// How many CPUs the pool, which has been started, may use: its slots, or what the node leaves to the process.
int cpus_for_all() noexcept;
void hold_for_guests(int slots, int more) noexcept;
void forget_guests() noexcept;
void set_guest_part(GuestPart part) noexcept;

// ---- for the core itself ----
// To be called at each tick of the monitor; and whether the monitor has to go on ticking for guests.
void tick_guests(Pool& pool) noexcept;
bool guests_need_ticks(const Pool& pool) noexcept;
// How many CPUs guests could use beside those that they hold.
int wanted_by_guests() noexcept;

}  // namespace weft::core
