// SPDX-License-Identifier: Apache-2.0
// A lock for critical sections that enter the kernel, such as those that make threads: who waits sleeps, OS thread and
// all. Drepper, "Futexes Are Tricky" (2011), third version.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/futex.h"

namespace weft::core {

class FutexLock {
 public:
  void lock() noexcept {
    uint32_t seen = kFree;
    // Acquire pairs with the release of unlock(): the last holder's writes are visible.
    if (word_.compare_exchange_strong(seen, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) return;
    while (word_.exchange(kContended, std::memory_order_acquire) != kFree) platform::futex_wait(word_, kContended);
  }
  void unlock() noexcept {
    if (word_.exchange(kFree, std::memory_order_release) == kContended) platform::futex_wake(word_, 1);
  }

 private:
  enum : uint32_t { kFree, kHeld, kContended };
  std::atomic<uint32_t> word_{kFree};
};

}  // namespace weft::core
