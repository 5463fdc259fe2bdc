// SPDX-License-Identifier: Apache-2.0
// Calls that wait without a pause: outside of parallel regions.
#pragma once

#include <atomic>
#include <cstdint>

#include "mpi/library/waits/call.h"

namespace weft::mpi {

// One that waits alone, as most do, takes no lock and reads no clock. The others are in a list.
class WaitInPlace {
 public:
  explicit WaitInPlace(const Call& call) noexcept : call_(call) {
    const Call* nobody = nullptr;
    // Release pairs with the acquire of the visit: what the call says is visible. Acquire pairs with the release of
    // leave_alone(): this thread goes on with the number.
    alone_ = g_alone.compare_exchange_strong(nobody, &call_, std::memory_order_acq_rel, std::memory_order_relaxed);
    if (!alone_) join();
  }
  ~WaitInPlace() {
    if (alone_) {
      leave_alone();
    } else {
      leave();
    }
  }
  WaitInPlace(const WaitInPlace&) = delete;
  WaitInPlace& operator=(const WaitInPlace&) = delete;

 private:
  friend int visit_waits_in_place(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept;

  // Null: nobody waits alone. During a visit it is the address of something else.
  static inline std::atomic<const Call*> g_alone{nullptr};
  // How many have waited alone: tells one from the next, which may lie at the same address. Relaxed: written only by
  // the thread that has g_alone.
  static inline std::atomic<uint64_t> g_number{0};

  void leave_alone() noexcept {
    g_number.store(g_number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const Call* own = &call_;
    // Release: pairs with the acquire of the next one. Acquire: the visit has read the call before it goes.
    if (!g_alone.compare_exchange_strong(own, nullptr, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      leave_after_visit();
    }
  }
  void leave_after_visit() noexcept;
  void join() noexcept;
  void leave() noexcept;

  const Call& call_;
  bool alone_;
  // Of those in the list.
  int64_t began_;
  WaitInPlace* next_;
  WaitInPlace** link_;
};

// Each of them, with the time at which it began; returns how many. None of them ends meanwhile. The time of the one
// that waits alone is that of the first visit that has met it. There is one visit at a time.
int visit_waits_in_place(void (*visit)(const Call& call, int64_t began, void* argument), void* argument) noexcept;

}  // namespace weft::mpi
