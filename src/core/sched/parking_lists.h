// SPDX-License-Identifier: Apache-2.0
// Which contexts are parked on which words. Internal to parking.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/address_hash.h"
#include "core/context/context.h"
#include "platform/spinlock.h"

namespace weft::core::parking {

// A parked context; the record lies on its stack. Guarded by the list's lock.
struct Waiter {
  Context* context;
  const void* word;
  bool briefly = false;
  bool woken = false;
  bool in_vain = false;        // its word stands still: it is woken for that (brief_parking.cpp)
  int64_t still_since_ns = 0;  // of the first waiter of a word: since when the word stands still; 0: not looked at yet
  Waiter* next = nullptr;
};

struct alignas(64) List {
  platform::Spinlock lock;
  Waiter* first = nullptr;
  Waiter* last = nullptr;
  // How many wait briefly. Written with the lock held; relaxed: a thread that looks without the lock looks again.
  std::atomic<int> brief{0};

  // append() and take_out() are called with the lock held.
  void append(Waiter* waiter) noexcept {
    (last != nullptr ? last->next : first) = waiter;
    last = waiter;
    if (waiter->briefly) brief.fetch_add(1, std::memory_order_relaxed);
  }
  // Takes out `waiter`, which follows `previous`, or is the first (null). The caller unblocks its context after it has
  // left the lock: that may wake and even make threads. A context that goes on before is woken once more for nothing.
  void take_out(Waiter* previous, Waiter* waiter) noexcept {
    (previous != nullptr ? previous->next : first) = waiter->next;
    if (last == waiter) last = previous;
    if (waiter->briefly) brief.fetch_sub(1, std::memory_order_relaxed);
    waiter->woken = true;
  }
  // Waits until a waker has taken the waiter out; the waker does not touch it afterwards. The lock is not held.
  void await(const Waiter& waiter) noexcept;
};

inline constexpr int kTakenAtOnce = 16;
using Taken = std::array<Context*, kTakenAtOnce>;

constexpr unsigned kBits = 8;
extern std::array<List, size_t{1} << kBits> g_lists;

inline List& list_of(const void* word) noexcept {
  return g_lists[base::address_hash<kBits>(reinterpret_cast<uintptr_t>(word) >> 2)];
}

// In the child of a fork.
void forget_brief() noexcept;

}  // namespace weft::core::parking
