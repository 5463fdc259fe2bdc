// SPDX-License-Identifier: Apache-2.0
// Whether OS threads of the pool wait for CPUs that others have: another process, or threads of the program. A member
// that waits on its own thread's stack then goes on only when the kernel lets that thread run, milliseconds later,
// while a thread that has a CPU could go on with it at once. So as long as its thread comes late, a member leaves it
// when it waits, and carriers that have nothing else to do look for such members. Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/cycles.h"

namespace weft::core {

// Of a carrier, or of any of a pool's. Relaxed: the word says all there is to say, and a context that sees it late
// waits in the other way once.
class Lateness {
 public:
  // Longer than the kernel takes to let a thread run where a CPU is free.
  static constexpr int64_t kLateNs = 1'000'000;

  void note(int64_t now_ns) noexcept { until_ns_.store(now_ns + kMemoryNs, std::memory_order_relaxed); }

  // Whether there has been some of late.
  bool any() noexcept {
    const int64_t until = until_ns_.load(std::memory_order_relaxed);
    if (__builtin_expect(until == 0, 1)) return false;
    if (platform::now_ns() < until) return true;
    until_ns_.store(0, std::memory_order_relaxed);
    return false;
  }

 private:
  static constexpr int64_t kMemoryNs = 250'000'000;  // so that finding it out again costs little

  std::atomic<int64_t> until_ns_{0};
};

}  // namespace weft::core
