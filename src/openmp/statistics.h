// SPDX-License-Identifier: Apache-2.0
// Statistics of WEFT_STATS: regions by level here, the scheduler's from core.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace weft::openmp {

inline constexpr int kCountedLevels = 8;
inline bool g_statistics_on = false;  // set once, while the runtime starts
inline std::array<std::atomic<uint64_t>, kCountedLevels> g_regions{};

// Counts a region at nesting depth `level`; the last counter takes all deeper ones.
inline void count_region(int level) noexcept {
  if (__builtin_expect(g_statistics_on, 0)) {
    g_regions[std::min(level, kCountedLevels) - 1].fetch_add(1, std::memory_order_relaxed);
  }
}

// Prints them on stderr. At exit, when WEFT_STATS asks for it.
void print_statistics() noexcept;

}  // namespace weft::openmp
