// SPDX-License-Identifier: Apache-2.0
// Tells which processes are stopped, by a signal or a debugger. While a process has slots or waits for something, its
// monitor changes its `beat` every few milliseconds. A process whose beat has not changed for a second, by the clock of
// the process that looks, is stopped: it does not count until it goes on. Processes share no clock: theirs may differ.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "node/layout.h"

namespace weft::node {

inline constexpr int64_t kStoppedNs = 1'000'000'000;

// The beats that this process has seen of the others. Relaxed: several threads may look at the same time, and then the
// moment from which one of them counts is a little off.
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
    std::atomic<uint32_t> beat{0};
    std::atomic<int64_t> since{0};  // when the beat was seen to change
  };
  std::array<Seen, kMostProcesses> seen_;
};

}  // namespace weft::node
