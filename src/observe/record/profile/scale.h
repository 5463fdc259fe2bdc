// SPDX-License-Identifier: Apache-2.0
// How long a tick of the cheap clock is, and what the recorder's own part of a measured length is.
#pragma once

#include <cstdint>

namespace weft::observe {

// Set before the first event.
extern double g_ns_per_tick;
inline double ns_per_tick() noexcept { return g_ns_per_tick; }

// The length of a chunk without any work, in ticks. Set before the first event.
extern int64_t g_chunk_ticks;
inline int64_t chunk_ticks() noexcept { return g_chunk_ticks; }

// Compares the clocks for half a millisecond.
void measure_ticks() noexcept;

}  // namespace weft::observe
