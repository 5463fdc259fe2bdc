// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/waits/in_place.h"

#include <mutex>

#include <sched.h>

#include "platform/cycles.h"
#include "platform/futex_lock.h"

namespace weft::mpi {

namespace {

platform::FutexLock g_lock;
WaitInPlace* g_first = nullptr;

// Stands for the call that waits alone while it is visited.
constexpr Call kVisited{};

// With the lock held: which one the last visit has met, and since when it is known.
uint64_t g_met = UINT64_MAX;
int64_t g_met_since = 0;

}  // namespace

void WaitInPlace::leave_after_visit() noexcept {
  for (;;) {
    const Call* own = &call_;
    // As in leave_alone().
    if (g_alone.compare_exchange_strong(own, nullptr, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
    sched_yield();
  }
}

void WaitInPlace::join() noexcept {
  began_ = platform::now_ns();
  const std::lock_guard lock(g_lock);
  next_ = g_first;
  link_ = &g_first;
  if (next_ != nullptr) next_->link_ = &next_;
  g_first = this;
}

void WaitInPlace::leave() noexcept {
  const std::lock_guard lock(g_lock);
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

int visit_waits_in_place(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept {
  const std::lock_guard lock(g_lock);
  int count = 0;
  // Relaxed: the exchange checks it.
  const Call* alone = WaitInPlace::g_alone.load(std::memory_order_relaxed);
  // Acquire pairs with the release of whoever has come.
  if (alone != nullptr && WaitInPlace::g_alone.compare_exchange_strong(alone, &kVisited, std::memory_order_acquire,
                                                                       std::memory_order_relaxed)) {
    const uint64_t number = WaitInPlace::g_number.load(std::memory_order_relaxed);
    if (number != g_met) {
      g_met = number;
      g_met_since = platform::now_ns();
    }
    visit(*alone, g_met_since, argument);
    ++count;
    // Release pairs with the acquire of leave_alone(): the call has been read.
    WaitInPlace::g_alone.store(alone, std::memory_order_release);
  }
  for (const WaitInPlace* wait = g_first; wait != nullptr; wait = wait->next_, ++count) {
    visit(wait->call_, wait->began_, argument);
  }
  return count;
}

}  // namespace weft::mpi
