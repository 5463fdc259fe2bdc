// SPDX-License-Identifier: Apache-2.0
// What one of all processes does every so often. A count in the segment says how often it has been done: the first
// process that has seen it stand still for that long, by a clock of its own, counts on and does it. So one that is
// killed or stopped is replaced by the next that looks.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::node {

// Relaxed: what is seen says who does something, and nothing of what others have written. Several threads of a process
// may look at the same time, and then one of them counts from a moment that is a little off; the update is what only
// one of all succeeds in.
class Duty {
 public:
  bool is_mine(std::atomic<uint32_t>& count, int64_t now, int64_t after) noexcept {
    uint32_t seen = count.load(std::memory_order_relaxed);
    const int64_t passed = now - since_.load(std::memory_order_relaxed);
    // A clock that has gone back says nothing of how long it has been.
    if (seen != seen_.load(std::memory_order_relaxed) || passed < 0) {
      note(seen, now);
      return false;
    }
    if (passed < after || !count.compare_exchange_strong(seen, seen + 1, std::memory_order_relaxed)) return false;
    note(seen + 1, now);
    return true;
  }

 private:
  void note(uint32_t seen, int64_t now) noexcept {
    seen_.store(seen, std::memory_order_relaxed);
    since_.store(now, std::memory_order_relaxed);
  }
  std::atomic<uint32_t> seen_{0};
  std::atomic<int64_t> since_{0};
};

}  // namespace weft::node
