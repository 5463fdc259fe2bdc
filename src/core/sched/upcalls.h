// SPDX-License-Identifier: Apache-2.0
// Functions of higher files of this folder that lower ones call: they include this header in place of those. Internal
// to core.
#pragma once

namespace weft::core {

// Makes workers until there are `count`, as far as the system lets it (workers.cpp).
void grow_workers(int count) noexcept;

// The scheduler's loop, which free contexts run (next_work.cpp): does what there is to do, and waits where there is
// nothing. Returns only in the thread of a worker that is to end, under its own identity.
void run_for_ever() noexcept;

}  // namespace weft::core
