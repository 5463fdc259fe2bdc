// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/waits/in_place.h"

#include <mutex>
#include <new>

#include "platform/cycles.h"
#include "platform/futex_lock.h"

namespace weft::mpi {

namespace {

// Held during a visit, and to take and leave seats.
platform::FutexLock g_lock;

// The thread has left its seat, for good: only destructors of its own run.
constinit thread_local bool t_ends = false;

}  // namespace

struct WaitInPlace::Leaver {
  Seat* seat = nullptr;

  ~Leaver() {
    t_seat = nullptr;
    t_ends = true;
    const std::lock_guard lock(g_lock);
    // A call that the thread has left by longjmp.
    const uint64_t turns = seat->turns.load(std::memory_order_relaxed);
    if (Seat::waits(turns)) seat->turns.store(turns + 1, std::memory_order_relaxed);
    seat->next_free = g_free;
    g_free = seat;
  }

  // With the lock held: all seats, none of which is ever freed, and those that are nobody's.
  static inline Seat* g_seats = nullptr;
  static inline Seat* g_free = nullptr;
};

WaitInPlace::Seat* WaitInPlace::take_seat() noexcept {
  if (t_ends) return nullptr;
  const std::lock_guard lock(g_lock);
  Seat* seat = Leaver::g_free;
  if (seat != nullptr) {
    Leaver::g_free = seat->next_free;
  } else {
    seat = new (std::nothrow) Seat;
    if (seat == nullptr) return nullptr;
    seat->next = Leaver::g_seats;
    Leaver::g_seats = seat;
  }
  static thread_local Leaver leaver;
  leaver.seat = seat;
  return t_seat = seat;
}

void WaitInPlace::await_end_of_visit() noexcept { const std::lock_guard lock(g_lock); }

std::optional<int> visit_waits_in_place(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept {
  using Seat = WaitInPlace::Seat;
  const std::lock_guard lock(g_lock);
  std::optional<int> count = 0;
  // Relaxed: the fence orders it.
  WaitInPlace::g_visited.store(true, std::memory_order_relaxed);
  if (!platform::heavy_fence()) count.reset();
  for (Seat* seat = count ? WaitInPlace::Leaver::g_seats : nullptr; seat != nullptr; seat = seat->next) {
    const uint64_t turns = seat->turns.load(std::memory_order_acquire);
    if (!Seat::waits(turns)) continue;
    if (turns != seat->met) {
      seat->met = turns;
      seat->met_since = platform::now_ns();
    }
    visit({seat->describe, seat->arguments, seat->caller}, seat->met_since, argument);
    ++*count;
  }
  WaitInPlace::g_visited.store(false, std::memory_order_release);
  return count;
}

}  // namespace weft::mpi
