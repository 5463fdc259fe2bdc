// SPDX-License-Identifier: Apache-2.0
// Fences for the pattern of Dekker: two threads each write one word and then read the other's; with a full fence
// between write and read on both sides, at least one of them sees what the other has written. A sequentially
// consistent store followed by such a load would do on hardware, but qemu (7.2) lets the two pass each other.
#pragma once

#include <atomic>

namespace weft::platform {

// Between a store and a load.
inline void full_fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

// Between a sequentially consistent read-modify-write and a load: on x86-64 such an instruction is a fence itself.
inline void full_fence_after_update() noexcept {
#if defined(__x86_64__)
  std::atomic_signal_fence(std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace weft::platform
