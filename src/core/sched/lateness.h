// SPDX-License-Identifier: Apache-2.0
// Lateness: an OS thread of the pool waits for a CPU that another process, or another thread of the program, has. A
// member that waits in place on that thread goes on only when the kernel lets the thread run, milliseconds later, while
// a thread that has a CPU could run the member at once. So as long as its thread comes late, a member leaves the thread
// when it waits, and carriers that have nothing else to do look for such members. Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/cycles.h"

namespace weft::core {

// The lateness of a carrier, or of any carrier of a pool. Relaxed: no other data belongs to the word, and a context
// that sees it late waits in the other way once.
class Lateness {
 public:
  // Longer than the kernel takes to let a thread run where a CPU is free.
  static constexpr int64_t kLateNs = 1'000'000;

  void note(int64_t now_ns) noexcept { until_ns_.store(now_ns + kMemoryNs, std::memory_order_relaxed); }

  // Whether a thread has come late in the last 250 ms.
  bool any() noexcept {
    const int64_t until = until_ns_.load(std::memory_order_relaxed);
    if (__builtin_expect(until == 0, 1)) return false;
    if (platform::now_ns() < until) return true;
    until_ns_.store(0, std::memory_order_relaxed);
    return false;
  }

 private:
  static constexpr int64_t kMemoryNs = 250'000'000;  // so long that it costs little to find out again

  std::atomic<int64_t> until_ns_{0};
};

}  // namespace weft::core
