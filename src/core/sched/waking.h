// SPDX-License-Identifier: Apache-2.0
// Calling carriers when there is work: one idle carrier for each piece, then new workers, then carriers whose context
// only waits. Internal to core; core/README.md says which side re-checks what.
#pragma once

#include "core/sched/pool.h"
#include "core/sched/work.h"
#include "platform/cycles.h"
#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::core {

// Wakes a carrier for something that it alone is to do, or is the first to do: it counts as called, and is not called
// for other work.
void call(Carrier* carrier) noexcept;

// Wakes a carrier for whatever work there is: the same, but it passes the call on where it does something else.
void call_to_work(Carrier* carrier) noexcept;

// Wakes a carrier that may run again, if there is something for it to do.
void wake_for_work(Carrier* carrier) noexcept;

// Calls up to `most` idle workers in whose own lists contexts wait, from worker number `from` on. Returns how many.
int call_waited_for(Pool& p, int from, int most) noexcept;

// Notes that the carrier wanted to run and last ran `since_ns` ago, for its lateness.
void note_wait(Carrier* carrier, int64_t now_ns, int64_t since_ns) noexcept;

// ---- parts of the above ----

inline void wake_sleeper(Carrier* carrier) noexcept {
  // Relaxed: the time comes with the kernel's wake-up; the time of an earlier call only makes the carrier seem late
  // once.
  carrier->called_ns.store(platform::now_ns(), std::memory_order_relaxed);
  platform::futex_wake(carrier->wake, 1);
}

inline void wake(Carrier* carrier) noexcept {
  if (carrier->wake.exchange(Wake::notified) == Wake::sleeping) wake_sleeper(carrier);
}

void wake_some(Pool& p, Work work, int most, Carrier* origin) noexcept;

// Calls a carrier that exists already for one piece of work that has been published at `origin`, with a fence after it.
// For a thread that must touch no thread-local object.
void call_one_there(Pool& p, Work work, Carrier* origin) noexcept;

// Calls carriers for `most` pieces of work that have been published, with a fence after them. Mostly all carriers are
// at work. `origin`: the carrier at which the work is found, and near which it had best be done; null: somewhere near
// the caller.
inline void notify_some(Pool& p, Work work, int most, Carrier* origin = nullptr) noexcept {
  const bool anybody =
      !p.none_idle() || p.any_waiting() || p.worker_count.load(std::memory_order_relaxed) < p.settings.slots - 1;
  if (anybody && most > 0) wake_some(p, work, most, origin);
}

// The same for a parallel call with members to claim, near its publisher.
inline void notify_claimers(ParallelCall* parallel_call, const Carrier* root, int most) noexcept {
  platform::full_fence();
  notify_some(pool(), {root, parallel_call}, most, parallel_call->publisher);
}

// Wakes one idle carrier that may do the work, which the caller has published before.
inline void notify(Work work) noexcept {
  platform::full_fence();
  notify_some(pool(), work, 1);
}

}  // namespace weft::core
