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

}  // namespace

struct WaitInPlace::Leaver {
  Seat* seat = nullptr;

  ~Leaver() {
    t_seat = nullptr;
    const std::lock_guard lock(g_lock);
    // A call that the thread has left by longjmp.
    const uint64_t turns = seat->turns.load(std::memory_order_relaxed);
    if (Seat::waits(turns)) seat->turns.store(turns + 1, std::memory_order_relaxed);
    seat->taken = false;
  }

  // With the lock held.
  static inline Seat* g_seats = nullptr;
};

WaitInPlace::Seat* WaitInPlace::take_seat() noexcept {
  const std::lock_guard lock(g_lock);
  Seat* seat = Leaver::g_seats;
  while (seat != nullptr && seat->taken) seat = seat->next;
  if (seat == nullptr) {
    seat = new (std::nothrow) Seat;
    if (seat == nullptr) return nullptr;
    seat->next = Leaver::g_seats;
    Leaver::g_seats = seat;
  }
  seat->taken = true;
  static thread_local Leaver leaver;
  leaver.seat = seat;
  return t_seat = seat;
}

void WaitInPlace::await_end_of_visit() noexcept { const std::lock_guard lock(g_lock); }

int visit_waits_in_place(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept {
  using Seat = WaitInPlace::Seat;
  const std::lock_guard lock(g_lock);
  int count = 0;
  // Relaxed: the fence orders it.
  WaitInPlace::g_visited.store(true, std::memory_order_relaxed);
  const bool certain = platform::heavy_fence();
  for (Seat* seat = certain ? WaitInPlace::Leaver::g_seats : nullptr; seat != nullptr; seat = seat->next) {
    const uint64_t turns = seat->turns.load(std::memory_order_acquire);
    if (!Seat::waits(turns)) continue;
    if (turns != seat->met) {
      seat->met = turns;
      seat->met_since = platform::now_ns();
    }
    visit({seat->describe, seat->arguments, seat->caller}, seat->met_since, argument);
    ++count;
  }
  WaitInPlace::g_visited.store(false, std::memory_order_release);
  return count;
}

}  // namespace weft::mpi
