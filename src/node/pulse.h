// SPDX-License-Identifier: Apache-2.0
// Which of the processes go on. While a process has slots or waits for something, its monitor changes its `beat` every
// few milliseconds. A process that has not changed it for a second, by the clock of the one that looks, is stopped, by
// a signal or a debugger: it does not count until it goes on. No clock is shared: the processes' may go differently.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "node/layout.h"

namespace weft::node {

inline constexpr int64_t kStoppedNs = 1'000'000'000;

// What one process has seen of the others. Relaxed: several of its threads may look at the same time, and then one of
// them counts from a moment that is a little off.
class Pulse {
 public:
  bool is_stopped(int number, const Record& record, int64_t now) noexcept {
    Seen& seen = seen_[static_cast<size_t>(number)];
    const uint32_t beat = record.beat.load(std::memory_order_relaxed);
    const int64_t silent = now - seen.since.load(std::memory_order_relaxed);
    // A clock that has gone back says nothing of how long it has been.
    if (beat == seen.beat.load(std::memory_order_relaxed) && silent >= 0) return silent > kStoppedNs;
    seen.beat.store(beat, std::memory_order_relaxed);
    seen.since.store(now, std::memory_order_relaxed);
    return false;
  }

 private:
  struct Seen {
    std::atomic<uint32_t> beat{0};  // none begins with it
    std::atomic<int64_t> since{0};
  };
  std::array<Seen, kMostProcesses> seen_;
};

}  // namespace weft::node
