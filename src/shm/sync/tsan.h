// SPDX-License-Identifier: Apache-2.0
// Calls of ThreadSanitizer, for a program that is built with it. It does not see the atomic operations of this library,
// which order what the program itself reads and writes. In other programs these functions do nothing.
#pragma once

extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace weft::shm {

inline bool is_watched_by_tsan() noexcept { return __tsan_acquire != nullptr && __tsan_release != nullptr; }

// What a thread has done before tsan_release() of an address comes before what follows tsan_acquire() of that address.
inline void tsan_acquire(void* address) noexcept {
  if (is_watched_by_tsan()) __tsan_acquire(address);
}
inline void tsan_release(void* address) noexcept {
  if (is_watched_by_tsan()) __tsan_release(address);
}

}  // namespace weft::shm
