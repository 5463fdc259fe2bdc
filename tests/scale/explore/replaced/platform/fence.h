// SPDX-License-Identifier: Apache-2.0
// In the place of src/platform/fence.h: its fences as machines other than x86-64 have them. Always in line, so that
// each has a place of its own.
#pragma once

#include <atomic>

namespace weft::platform {

[[gnu::always_inline]] inline void full_fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
[[gnu::always_inline]] inline void full_fence_after_update() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace weft::platform
