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

// Questions of callers whose mapping the thread did not remember, and those of them that asked the file system for a
// path (openmp/library/caller.h). Both stand still while a program calls its libraries.
inline std::atomic<uint64_t> g_callers_looked_up{0};
inline std::atomic<uint64_t> g_paths_resolved{0};

// Searches for tasks in the deques of others, and the deques looked at in them.
inline std::atomic<uint64_t> g_task_searches{0};
inline std::atomic<uint64_t> g_deques_searched{0};

inline void count(std::atomic<uint64_t>* counter) noexcept {
  if (__builtin_expect(g_statistics_on, 0)) counter->fetch_add(1, std::memory_order_relaxed);
}

// Prints them on stderr. At exit, when WEFT_STATS asks for it.
void print_statistics() noexcept;

}  // namespace weft::openmp
