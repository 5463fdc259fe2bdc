// SPDX-License-Identifier: Apache-2.0
// Short waits: the pause hint and a cheap clock.
#pragma once

#include <cstdint>
#include <ctime>

namespace weft::platform {

// Tells the core that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// Nanoseconds of CLOCK_MONOTONIC; some 20 ns a call.
inline int64_t now_ns() noexcept {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace weft::platform
