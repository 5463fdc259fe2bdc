// SPDX-License-Identifier: Apache-2.0
// A lock for critical sections of a few instructions that never block.
#pragma once

#include <atomic>

#include <sched.h>

#include "platform/cycles.h"

namespace weft::core {

class Spinlock {
 public:
  void lock() noexcept {
    // Acquire pairs with the release in unlock(): the holder's writes are visible inside.
    for (int spins = 0; locked_.exchange(true, std::memory_order_acquire); ++spins) {
      while (locked_.load(std::memory_order_relaxed)) {
        // The holder may have lost its CPU; a few microseconds in, let it have ours.
        if (++spins > kSpinsBeforeYield) sched_yield();
        platform::pause();
      }
    }
  }
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpinsBeforeYield = 200;
  std::atomic<bool> locked_{false};
};

}  // namespace weft::core
