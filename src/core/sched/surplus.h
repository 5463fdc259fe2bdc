// SPDX-License-Identifier: Apache-2.0
// Free contexts that have not been needed for a while: their donors end. The monitor calls all functions but end() and
// stop(). Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/sched/free_lists.h"
#include "platform/futex_lock.h"

namespace weft::core {

struct Pool;

class Surplus {
 public:
  // How often the monitor looks. Each time half of the contexts end that have been on a shelf all the time: a program
  // that needs many contexts every few seconds makes few anew, and a program that needs them no more is rid of them
  // soon.
  static constexpr int64_t kPeriodNs = 1'000'000'000;

  void tick(Pool& pool) noexcept;

  // Ends the contexts of `unused`, which no thread finds any more, without a wait. Called by any thread; one that is
  // not the monitor's wakes the monitor then.
  void end(Pool& pool, ContextQueue& unused) noexcept;

  // Takes over a chain of contexts that have been withdrawn and told to end, and whose donors have no thread for that.
  void end_later(Context* chain) noexcept;

  // For how long the monitor may sleep before the next look.
  int64_t pause_ns() const noexcept {
    constexpr int64_t kWhileSomeEndNs = 2'000'000;
    return has_absent_.load(std::memory_order_relaxed) ? kWhileSomeEndNs : kPeriodNs;
  }

  // Whether there is something for another look.
  bool any(const Pool& pool) noexcept;

  // Called by any thread when the process ends: what thread-local objects of other threads need may be gone any moment,
  // so no donor is told to end any more. Waits for donors that have been told to end, but not for long.
  void stop(Pool& pool) noexcept;

  // Waits for donors that have been told to end, but not for long: one of them may wait for the caller. Called by any
  // thread.
  void await_ends(Pool& pool) noexcept;

 private:
  void take_out(Pool& pool) noexcept;
  void begin_to_end(Pool& pool, ContextQueue& unused) noexcept;
  void reap(Pool& pool) noexcept;
  void note_absent() noexcept;
  void reap_ended(Pool& pool) noexcept;

  int64_t last_look_ = 0;
  platform::FutexLock lock_;  // guards what follows; held for moments
  bool stopped_ = false;
  ContextQueue ending_;  // contexts whose donors have been told to end and have not ended
  ContextQueue absent_;  // those whose donors have no thread yet to end with
  // Whether there are some. Relaxed: a look that misses it comes soon again.
  std::atomic<bool> has_absent_{false};
};

}  // namespace weft::core
