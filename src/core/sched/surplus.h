// SPDX-License-Identifier: Apache-2.0
// Contexts that nobody has needed for a while: the threads that donate them end. By the monitor, but for end() and
// stop(). Internal to core.
#pragma once

#include <cstdint>

#include "core/sched/free_lists.h"
#include "platform/futex_lock.h"

namespace weft::core {

struct Pool;

class Surplus {
 public:
  // How often it looks. Each time half of those that have been on a shelf all the time go: a program that needs many in
  // turns of some seconds makes few anew, and one that needs them no more is rid of them soon.
  static constexpr int64_t kPeriodNs = 1'000'000'000;

  void tick(Pool& pool) noexcept;

  // These, which nobody else finds any more, too, and nobody waits for it. By any thread; where it is none of the
  // monitor's, that has to be woken.
  void end(Pool& pool, ContextQueue& unused) noexcept;

  // Whether there is something for another look.
  bool any(const Pool& pool) noexcept;

  // The process ends, and what the thread-local objects of others need may be gone any moment: no thread is told to end
  // any more. Those that have been are waited for, but not for long. By any thread.
  void stop(Pool& pool) noexcept;

  // Waits for those that have been told to end, but not for long: one of them may wait for the caller. By any thread.
  void await_ends(Pool& pool) noexcept;

 private:
  void take_out(Pool& pool) noexcept;
  void begin_to_end(Pool& pool, ContextQueue& unused) noexcept;
  void reap(Pool& pool) noexcept;

  int64_t last_look_ = 0;
  platform::FutexLock lock_;  // of what follows; held for moments
  bool stopped_ = false;
  ContextQueue ending_;  // until their threads have ended
};

}  // namespace weft::core
