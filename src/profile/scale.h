// SPDX-License-Identifier: Apache-2.0
// How long a tick of the cheap clock is.
#pragma once

namespace weft::profile {

// Set before the first event.
extern double g_ns_per_tick;
inline double ns_per_tick() noexcept { return g_ns_per_tick; }

// Compares the clocks for half a millisecond.
void measure_ticks() noexcept;

}  // namespace weft::profile
