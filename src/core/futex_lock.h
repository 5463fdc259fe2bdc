// SPDX-License-Identifier: Apache-2.0
// A lock for critical sections that are short as a rule but may enter the kernel, to make threads: who waits longer
// than a few microseconds sleeps, OS thread and all. Drepper, "Futexes Are Tricky" (2011), third version.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/cycles.h"
#include "platform/futex.h"

namespace weft::core {

class FutexLock {
 public:
  void lock() noexcept {
    for (int spins = 0; spins < kSpins; ++spins) {
      uint32_t seen = word_.load(std::memory_order_relaxed);
      // Acquire, here and below, pairs with the release of unlock(): the last holder's writes are visible.
      if (seen == kFree &&
          word_.compare_exchange_strong(seen, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) {
        return;
      }
      platform::pause();
    }
    while (word_.exchange(kContended, std::memory_order_acquire) != kFree) platform::futex_wait(word_, kContended);
  }
  void unlock() noexcept {
    if (word_.exchange(kFree, std::memory_order_release) == kContended) platform::futex_wake(word_, 1);
  }

 private:
  enum : uint32_t { kFree, kHeld, kContended };
  static constexpr int kSpins = 200;
  std::atomic<uint32_t> word_{kFree};
};

}  // namespace weft::core
