// SPDX-License-Identifier: Apache-2.0
// A lock for critical sections that are short as a rule but may enter the kernel, to make threads: a thread that waits
// longer than a few microseconds sleeps, OS thread and all. Drepper, "Futexes Are Tricky" (2011), third version. In the
// child of a fork those of the parent's other threads are free, as in platform/spinlock.h.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/generation.h"

namespace weft::platform {

class FutexLock {
 public:
  void lock() noexcept {
    const uint32_t generation = platform::generation();
    const uint32_t held = generation << 1;
    for (int spins = 0; spins < kSpins; ++spins) {
      uint32_t seen = word_.load(std::memory_order_relaxed);
      // Acquire, here and below, pairs with the release of unlock(): the last holder's writes are visible.
      if (seen >> 1 != generation &&
          word_.compare_exchange_strong(seen, held, std::memory_order_acquire, std::memory_order_relaxed)) {
        return;
      }
      pause();
    }
    const uint32_t contended = held | kContended;
    while (word_.exchange(contended, std::memory_order_acquire) >> 1 == generation) {
      platform::futex_wait(word_, contended);
    }
  }
  void unlock() noexcept {
    if ((word_.exchange(kFree, std::memory_order_release) & kContended) != 0) platform::futex_wake(word_, 1);
  }

 private:
  // Otherwise twice the generation of the holder's process, and whether somebody may wait.
  enum : uint32_t { kFree = 0, kContended = 1 };
  static constexpr int kSpins = 200;
  std::atomic<uint32_t> word_{kFree};
};

}  // namespace weft::platform
