// SPDX-License-Identifier: Apache-2.0
// What WEFT_STATS counts of the loops that programs by weftcc tell of.
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
  std::atomic<uint64_t> left{0};  // regions that are one loop, but the program was told to open them itself
  std::atomic<uint64_t> announced{0};  // regions that hold a loop and more
  std::atomic<uint64_t> later{0};  // of both: by a later weftcc than the runtime knows
};
inline LoopStatistics g_loop_statistics;

inline void count_loop(uint64_t iterations, bool alone) noexcept {
  if (__builtin_expect(!g_statistics_on, 1)) return;
  g_loop_statistics.regions.fetch_add(1, std::memory_order_relaxed);
  g_loop_statistics.iterations.fetch_add(iterations, std::memory_order_relaxed);
  if (alone) g_loop_statistics.alone.fetch_add(1, std::memory_order_relaxed);
}

inline void count_later_loop() noexcept { count(&g_loop_statistics.later); }
inline void count_left_loop() noexcept { count(&g_loop_statistics.left); }
inline void count_announced_loop() noexcept { count(&g_loop_statistics.announced); }
inline void count_loop_of_engine() noexcept {
  if (g_statistics_on) g_loop_statistics.on_engine.fetch_add(1, std::memory_order_relaxed);
}

inline void count_ranges(uint64_t ranges, bool primary) noexcept {
  if (__builtin_expect(!g_statistics_on, 1)) return;
  g_loop_statistics.ranges.fetch_add(ranges, std::memory_order_relaxed);
  if (!primary) g_loop_statistics.ranges_of_others.fetch_add(ranges, std::memory_order_relaxed);
}

}  // namespace weft::openmp
