// SPDX-License-Identifier: Apache-2.0
#include "numa/protect/guarded.h"

#include <algorithm>

#include "numa/collector/arrays.h"

namespace weft::numa {

constinit ArrayGuard g_guards[kArrays] = {};

namespace {

// All arrays that ever were lie between.
constinit std::atomic<uintptr_t> g_low{UINTPTR_MAX};
constinit std::atomic<uintptr_t> g_high{0};

}  // namespace

// Relaxed but for the last: a thread that finds where the array begins finds the rest.
void set_guard(int index, uintptr_t begin, size_t bytes, How how) noexcept {
  ArrayGuard& guard = g_guards[index];
  guard.holds.store(0, std::memory_order_relaxed);
  guard.excluded.store(how == How::mapped, std::memory_order_relaxed);
  guard.huge.store(false, std::memory_order_relaxed);
  guard.was_protected.store(false, std::memory_order_relaxed);
  guard.end.store(begin + bytes, std::memory_order_relaxed);
  guard.begin.store(begin, std::memory_order_release);
  g_low.store(std::min(g_low.load(std::memory_order_relaxed), begin), std::memory_order_relaxed);
  g_high.store(std::max(g_high.load(std::memory_order_relaxed), begin + bytes), std::memory_order_relaxed);
}

// Relaxed: a thread that still finds it there finds an array that its program frees meanwhile.
void clear_guard(int index) noexcept {
  g_guards[index].begin.store(0, std::memory_order_relaxed);
  g_guards[index].end.store(0, std::memory_order_relaxed);
}

int find_array(uintptr_t begin, size_t bytes, int from) noexcept {
  const uintptr_t end = begin + bytes;
  // Relaxed: a thread that passes memory of an array has got it from the thread that allocated it, and with it these.
  if (end <= g_low.load(std::memory_order_relaxed) || begin >= g_high.load(std::memory_order_relaxed)) return -1;
  const int used = used_entries();
  for (int i = from; i < used; ++i) {
    const ArrayGuard& guard = g_guards[i];
    const uintptr_t first = guard.begin.load(std::memory_order_acquire);
    if (first != 0 && begin < guard.end.load(std::memory_order_relaxed) && end > first) return i;
  }
  return -1;
}

}  // namespace weft::numa
