// SPDX-License-Identifier: Apache-2.0
// What lower files of this folder ask of higher ones: they include this in the place of those. Internal to core.
#pragma once

namespace weft::core {

// Makes workers until there are `count`, as far as the system lets it (workers.cpp).
void grow_workers(int count) noexcept;

// What free contexts run (next_work.cpp): does whatever there is to do, and waits where there is nothing. Returns in
// the thread of a worker that is to end, under its own identity.
void run_for_ever() noexcept;

}  // namespace weft::core
