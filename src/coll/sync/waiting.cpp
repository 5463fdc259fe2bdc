// SPDX-License-Identifier: Apache-2.0
#include "coll/sync/waiting.h"

#include <sched.h>

#include "base/keep_errno.h"
#include "base/message.h"
#include "platform/fence.h"
#include "platform/futex.h"
#include "platform/process.h"
#include "shm/sync/runtime.h"

namespace weft::coll {

namespace {

constexpr int64_t kSpinNs = 30'000;           // so long a rank spins before it yields, if each rank has a CPU
constexpr int64_t kYieldNs = 1'000'000;       // so long after the beginning it sleeps
constexpr int64_t kCrowdedYieldNs = 300'000;  // the same with more ranks than CPUs
constexpr int64_t kLongestSleepNs = 1'000'000;
constexpr int64_t kProgressNs = 30'000;
constexpr int64_t kLookNs = 10'000'000;

}  // namespace

LongWait::LongWait(const WaitSettings& settings, Area& awaited) noexcept
    : settings_(settings),
      awaited_(awaited),
      now_(platform::now_ns()),
      sleep_from_(now_ + (settings.crowded ? kCrowdedYieldNs : kYieldNs)),
      yield_from_(now_ + (settings.crowded ? 0 : kSpinNs)),
      progress_at_(now_ + kProgressNs),
      look_at_(now_ + kLookNs) {}

LongWait::Next LongWait::once() noexcept {
  now_ = platform::now_ns();
  if (now_ >= progress_at_) {
    if (settings_.progress != nullptr) settings_.progress();
    progress_at_ = now_ + kProgressNs;
    if (now_ >= look_at_) {
      look_at_ = now_ + kLookNs;
      const base::KeepErrno keep;
      if (platform::process_has_ended(awaited_.member.process)) return Next::tell_of_death;
    }
  }
  // In a region of weft's runtime other members can run on this thread meanwhile. They may need it for long, so it
  // never sleeps.
  if (const shm::Runtime& runtime = shm::runtime(); runtime.in_parallel()) {
    if (!runtime.yield()) sched_yield();
    return Next::once;
  }
  if (now_ < yield_from_) return Next::once;
  if (now_ < sleep_from_) {
    sched_yield();
    return Next::once;
  }
  // Acquire: if this is already the number after a call, the 1 below is stored after the 0 that call_sleepers() stored
  // before it.
  calls_ = awaited_.calls.load(std::memory_order_acquire);
  // Relaxed: the fence orders it before the look by which the waiting rank decides to sleep.
  awaited_.sleepers.store(1, std::memory_order_relaxed);
  platform::full_fence();
  return Next::sleep;
}

void LongWait::sleep() noexcept {
  const int64_t longest = settings_.progress != nullptr ? 2 * kProgressNs : kLongestSleepNs;
  platform::futex_wait_shared(awaited_.calls, calls_, longest);
}

void tell_of_death(const WaitSettings& settings, int rank) noexcept {
  if (settings.died != nullptr) settings.died(rank);
  base::fatal("collectives: rank %d has ended while others wait for it", rank);
}

void call_sleepers(Area& own) noexcept {
  // Relaxed: the release below orders it.
  own.sleepers.store(0, std::memory_order_relaxed);
  // Only this rank writes `calls`. Release: a rank that sees the new number sets `sleepers` after it was cleared here,
  // so it is never cleared without a call that follows.
  own.calls.store(own.calls.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  platform::futex_wake_shared(own.calls, INT32_MAX);
}

}  // namespace weft::coll
