// SPDX-License-Identifier: Apache-2.0
// Whether OS threads of the pool wait for CPUs that others have: another process, or threads of the program. A member
// that waits on its own thread's stack then goes on only when the kernel lets that thread run, milliseconds later,
// while a thread that has a CPU could go on with it at once. So as long as threads come late, members leave their
// threads when they wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/cycles.h"

namespace weft::core {

// For anybody. Relaxed: each word says all there is to say, and who sees it late waits in the other way once.
class Lateness {
 public:
  // A thread has been without a CPU for so long although it wanted to run.
  void note(int64_t now_ns, int64_t late_ns) noexcept {
    if (__builtin_expect(late_ns > kLateNs, 0)) until_ns_.store(now_ns + kMemoryNs, std::memory_order_relaxed);
  }

  bool is_common() noexcept {
    const int64_t until = until_ns_.load(std::memory_order_relaxed);
    if (__builtin_expect(until == 0, 1)) return false;
    if (platform::now_ns() < until) return true;
    until_ns_.store(0, std::memory_order_relaxed);
    return false;
  }

 private:
  static constexpr int64_t kLateNs = 1'000'000;  // longer than the kernel takes where a CPU is free
  static constexpr int64_t kMemoryNs = 250'000'000;  // so that finding it out again costs little

  std::atomic<int64_t> until_ns_{0};
};

}  // namespace weft::core
