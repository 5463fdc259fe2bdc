// SPDX-License-Identifier: Apache-2.0
// What the protocols of src/shm do to memory and ask of the kernel, on the machine: the same names as shm::RealOps.
#pragma once

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>

#include "exhaustive.h"
#include "shm/sync/robust.h"

namespace weft::explore {

inline void wait_until(const void* word, uint32_t expected, int64_t deadline_ns) {
  Exhaustive& machine = Exhaustive::running();
  const int64_t left_ns = deadline_ns == kForever ? -1 : std::max<int64_t>(0, deadline_ns - machine.now_ns());
  machine.futex_wait(word, expected, left_ns, __builtin_return_address(0));
}

inline void wake(const void* word, int most) {
  Exhaustive::running().futex_wake(word, most, __builtin_return_address(0));
}

class ModelRobust {
 public:
  void make() noexcept {}
  shm::Taken try_take(uint32_t, shm::Hold, shm::Look = shm::Look::word) noexcept {
    return Exhaustive::running().try_take(this);
  }
  shm::Taken take(uint32_t, shm::Hold, int64_t deadline_ns) noexcept {
    return Exhaustive::running().take(this, deadline_ns);
  }
  void settle() noexcept { Exhaustive::running().settle(this); }
  void give(uint32_t, shm::Hold) noexcept { Exhaustive::running().give(this); }

 private:
  char nothing_ = 0;
};

struct ModelOps {
  template <class Value>
  using Atomic = std::atomic<Value>;
  using Robust = ModelRobust;

  static void full_fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static bool heavy_fence() noexcept {
    Exhaustive::running().heavy_fence();
    return true;
  }
  static uint64_t self() noexcept { return static_cast<uint64_t>(Exhaustive::running().current() + 1); }
  static int64_t now_ns() noexcept { return Exhaustive::running().now_ns(); }
  static int64_t spin_ns() noexcept { return 0; }
  static void pause() noexcept { Exhaustive::running().pause(false); }
  static void wait(const Atomic<uint32_t>& word, uint32_t expected, int64_t deadline_ns) noexcept {
    wait_until(&word, expected, deadline_ns);
  }
  static void wake(const Atomic<uint32_t>& word) noexcept { explore::wake(&word, INT_MAX); }
};

}  // namespace weft::explore
