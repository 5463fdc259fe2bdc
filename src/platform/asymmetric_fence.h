// SPDX-License-Identifier: Apache-2.0
// Fences for the pattern of Dekker (platform/fence.h) where one side is frequent and the other one rare: the rare side
// makes all threads of the process pass a fence (membarrier(2)), so the frequent one needs an order of the compiler's
// alone.
#pragma once

#include <atomic>

#include "platform/fence.h"

namespace weft::platform {

namespace detail {

// Until the kernel has promised to do its part. Relaxed: a light fence that is a full one is right at any time.
extern constinit std::atomic<bool> g_light_is_full;

}  // namespace detail

// Asks the kernel for its part, once and before the first heavy fence. Takes up to some milliseconds.
void lighten_fences() noexcept;

// The fence of the frequent side, between its store and its load.
inline void light_fence() noexcept {
  if (__builtin_expect(detail::g_light_is_full.load(std::memory_order_relaxed), 0)) {
    full_fence();
  } else {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

// The fence of the rare side, between its store and its load. False: the kernel does not keep its promise (a filter of
// system calls has come since), and what the caller reads then says nothing.
bool heavy_fence() noexcept;

// The fence of the rare side, where the frequent one has an order of the compiler's alone, whatever the kernel
// promises. It takes some microseconds, the first time some milliseconds. Any thread may call it, also in handlers; it
// leaves errno alone.
void fence_other_threads() noexcept;

}  // namespace weft::platform
