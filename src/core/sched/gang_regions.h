// SPDX-License-Identifier: Apache-2.0
// Regions that are gangs although the program does not say so: their members wait for each other without a call of the
// runtime, so all of them have to run at the same time. A region is known by its function. The monitor finds such
// regions (core/monitor/stalls.h); from then on such a region is lent the OS threads that it lacks when it begins.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "base/address_hash.h"

namespace weft::core {

struct ParallelCall;

// Written by the monitor, read by threads that begin a region. Relaxed: no other data belongs to the words, and a
// thread that sees one late runs a region as before.
class GangRegions {
 public:
  bool any() const noexcept { return count_.load(std::memory_order_relaxed) > 0; }
  bool has(const void* function) const noexcept;

  // These three are called by the monitor only. add() returns false where there is no room.
  bool add(const void* function) noexcept;
  void remove(const void* function) noexcept;
  void clear() noexcept;

 private:
  static constexpr unsigned kBits = 6;
  static constexpr size_t kEntries = size_t{1} << kBits;
  static constexpr size_t kTries = 8;  // a function stands in one of this many entries
  static size_t entry(const void* function, size_t tries) noexcept {
    return (base::address_hash<kBits>(function) + tries) % kEntries;
  }

  std::array<std::atomic<const void*>, kEntries> functions_{};
  std::atomic<int> count_{0};
};

// The gang regions of the process.
extern GangRegions g_gang_regions;

// A region of `size` members is about to be published as `parallel_call`, whose `function` is set, or posted to a
// persistent team. Returns how many OS threads it has been lent, for the caller to return when it ends.
int lend_to_gang_region(ParallelCall* parallel_call, int size) noexcept;
inline int lend_to_region(ParallelCall* parallel_call, int size) noexcept {
  return __builtin_expect(g_gang_regions.any(), 0) ? lend_to_gang_region(parallel_call, size) : 0;
}
void return_region_threads(int lent) noexcept;

// Lends up to `missing` threads to regions: they may run beside the CPU slots, and do the calls of parallel calls that
// are gangs. Returns how many were lent: the system may refuse some.
int lend_region_threads(int missing) noexcept;

}  // namespace weft::core
