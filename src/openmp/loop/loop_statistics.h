// SPDX-License-Identifier: Apache-2.0
// What WEFT_STATS counts of regions that are one loop.
#pragma once

#include <atomic>
#include <cstdint>

#include "openmp/settings/statistics.h"

namespace weft::openmp {

// Relaxed: sums, read at exit.
struct LoopStatistics {
  std::atomic<uint64_t> regions{0};
  std::atomic<uint64_t> alone{0};  // of them: run by the primary without others
  std::atomic<uint64_t> on_engine{0};  // of them: run by the engine that WEFT_ENGINE names
  std::atomic<uint64_t> iterations{0};
  std::atomic<uint64_t> ranges{0};  // pieces that members have taken
  std::atomic<uint64_t> ranges_of_others{0};  // of them: by members other than the primary
};
inline LoopStatistics g_loop_statistics;

inline void count_loop(uint64_t iterations, bool alone) noexcept {
  if (__builtin_expect(!g_statistics_on, 1)) return;
  g_loop_statistics.regions.fetch_add(1, std::memory_order_relaxed);
  g_loop_statistics.iterations.fetch_add(iterations, std::memory_order_relaxed);
  if (alone) g_loop_statistics.alone.fetch_add(1, std::memory_order_relaxed);
}

inline void count_loop_of_engine() noexcept {
  if (g_statistics_on) g_loop_statistics.on_engine.fetch_add(1, std::memory_order_relaxed);
}

inline void count_ranges(uint64_t ranges, bool primary) noexcept {
  if (__builtin_expect(!g_statistics_on, 1)) return;
  g_loop_statistics.ranges.fetch_add(ranges, std::memory_order_relaxed);
  if (!primary) g_loop_statistics.ranges_of_others.fetch_add(ranges, std::memory_order_relaxed);
}

}  // namespace weft::openmp
