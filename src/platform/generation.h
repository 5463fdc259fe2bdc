// SPDX-License-Identifier: Apache-2.0
// How many forks lie between this process and the one that loaded the library. What other threads of the parent hold is
// nobody's in its child: so locks carry the generation of their holder (platform/spinlock.h, platform/futex_lock.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::platform {

// Written in the child of a fork, by its only thread, before any other handler of this library runs. Alone on its cache
// line, since every lock reads it.
struct alignas(64) Generation {
  std::atomic<uint32_t> number{1};
};
extern Generation g_generation;

// From 1 on. Relaxed: threads are made after the last change.
inline uint32_t generation() noexcept { return g_generation.number.load(std::memory_order_relaxed); }

}  // namespace weft::platform
