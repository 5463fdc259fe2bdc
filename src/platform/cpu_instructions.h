// SPDX-License-Identifier: Apache-2.0
// The pause hint and a cheap clock, an instruction each. A header of its own, since tests/scale has another in its
// place.
#pragma once

#include <cstdint>

namespace weft::platform {

// Tells the core that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// A clock that takes less time to read, for differences on one thread: what it counts has no common unit. A thread that
// has moved to another CPU may see it go back.
inline int64_t ticks() noexcept {
#if defined(__x86_64__)
  return static_cast<int64_t>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  int64_t now = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
#error "weft supports x86-64 and AArch64"
#endif
}

// About as many of them as pass in 20 microseconds: between half and four times that.
inline int64_t ticks_of_20_us() noexcept {
#if defined(__x86_64__)
  return 50'000;
#elif defined(__aarch64__)
  int64_t per_second = 0;
  asm("mrs %0, cntfrq_el0" : "=r"(per_second));
  return per_second / 50'000;
#endif
}

}  // namespace weft::platform
