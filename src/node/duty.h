// SPDX-License-Identifier: Apache-2.0
// A duty is something that one of all processes does every so often. A count in the segment says how often it has been
// done. The first process that has seen the count stand still for that long, by its own clock, counts it up and does
// the duty. So a process that is killed or stopped is replaced by the next one that looks.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::node {

// Relaxed: the count says which process does the duty; no other data comes with it. Several threads of a process may
// look at the same time, and then the moment from which one of them counts is a little off. Only one of all succeeds in
// the compare-and-swap.
class Duty {
 public:
  // Whether the duty falls to the caller, which has counted then: `count` has stood still for `after` nanoseconds.
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
