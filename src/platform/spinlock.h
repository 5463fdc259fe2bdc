// SPDX-License-Identifier: Apache-2.0
// A lock for critical sections of a few instructions that never block. In the child of a fork those that other threads
// of the parent hold are free: a lock says of which process its holder is. What it guards should be whole, or what the
// child can use, at each instruction.
#pragma once

#include <atomic>
#include <cstdint>

#include <sched.h>

#include "platform/cycles.h"
#include "platform/generation.h"

namespace weft::platform {

class Spinlock {
 public:
  void lock() noexcept {
    const uint32_t held = platform::generation();
    // Acquire pairs with the release in unlock(): the holder's writes are visible inside. A parent's thread is not here
    // to release: what it had written stood in the memory that was copied.
    for (int spins = 0; holder_.exchange(held, std::memory_order_acquire) == held; ++spins) {
      while (holder_.load(std::memory_order_relaxed) == held) {
        // The holder may have lost its CPU; a few microseconds in, let it have ours.
        if (++spins > kSpinsBeforeYield) sched_yield();
        pause();
      }
    }
  }
  // In line, for callers whose sanitizer's state is another thread's.
  [[gnu::always_inline]] bool try_lock() noexcept {
    const uint32_t held = platform::generation();
    return holder_.exchange(held, std::memory_order_acquire) != held;
  }
  [[gnu::always_inline]] void unlock() noexcept { holder_.store(kFree, std::memory_order_release); }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr int kSpinsBeforeYield = 200;
  std::atomic<uint32_t> holder_{kFree};  // the generation of its process
};

}  // namespace weft::platform
