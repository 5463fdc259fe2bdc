// SPDX-License-Identifier: Apache-2.0
#include "interpose/sequence.h"

#include <sched.h>

#include "core/api/budget.h"
#include "core/api/fork.h"
#include "core/api/thread.h"
#include "interpose/fiber_stacks.h"
#include "interpose/refusal.h"
#include "platform/cycles.h"
#include "platform/fence.h"
#include "platform/service_thread.h"

namespace weft::interpose {

namespace {

// All records that exist. Release by the thread that adds one, acquire by the monitor.
std::atomic<Sequence*> g_all{nullptr};
// Whether the monitor looks at them.
std::atomic<bool> g_watched{false};
int g_calm_ticks = 0;  // ticks in which nothing was to be watched; touched by the monitor alone

// A caller that uses so much CPU time in one job waits for other jobs: calls that run in sequence take some
// microseconds.
constexpr int64_t kStuckNs = 2'000'000;
// The same where waits are seen: there the caller itself runs the jobs that it waits for. This is for waits that weft
// does not know, so that the program does not hang.
constexpr int64_t kLongestJobNs = 1'000'000'000;
// The jobs of a call take about the same time each. If a helper's job has taken less than this, the caller, which was
// in one job for kLongestJobNs, has not computed in it: it has waited.
constexpr int64_t kMuchLessNs = kLongestJobNs / 4;
// Helpers that stand by get impatient sooner than the monitor: meanwhile they do nothing else.
constexpr int64_t kGraceNs = 200'000;
constexpr int kTicksToWatchOn = 20;
constexpr int kTicksToGiveUp = 1000;
constexpr size_t kStackSize = 8u << 20;  // as the library's own threads have

// The CPU time that the thread has used; where the system does not tell it, real time, so that no wait lasts for ever.
int64_t time_used_ns(pid_t thread) noexcept {
  const int64_t used = platform::cpu_time_of_thread_ns(thread);
  return used != 0 ? used : platform::now_ns();
}

}  // namespace

Sequence::Sequence() noexcept {
  next_ = g_all.load(std::memory_order_relaxed);
  while (!g_all.compare_exchange_weak(next_, this, std::memory_order_release, std::memory_order_relaxed)) continue;
}

bool Sequence::begin(int count, Job job, void* call, Waits waits) noexcept {
  if (!g_watched.load(std::memory_order_relaxed) && !watch() && waits == Waits::unseen) return false;
  job_ = job;
  call_ = call;
  count_ = count;
  waits_ = waits;
  caller_runs_some_ = patient_ = false;
  misjudged_.store(false, std::memory_order_relaxed);
  patience_ns_.store(waits == Waits::seen ? kLongestJobNs : kStuckNs, std::memory_order_relaxed);
  thread_.store(core::thread_id(), std::memory_order_relaxed);
  calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  jobs_.pending.store(count, std::memory_order_relaxed);
  // Release: a thread that claims sees the stores above.
  jobs_.claim.store(static_cast<uint64_t>(count) << 32, std::memory_order_release);
  // On both sides there is a fence between the claims and `g_watched`: a monitor that is about to cease looking sees
  // the jobs, or this thread sees that it has ceased.
  platform::full_fence();
  if (!g_watched.load(std::memory_order_relaxed)) watch();
  return true;
}

bool Sequence::run_own() noexcept {
  int own = 0;
  if (waits_ == Waits::seen) {
    if (!caller_runs_some_) fibers_.open(&jobs_, job_, call_, patient_);
    fibers_.run();
    own = fibers_.close();
  } else {
    for (int index = jobs_.take(); index >= 0; index = jobs_.take()) {
      job_(call_, index);
      ++own;
    }
  }
  // Release: for the monitor (is_under_way). Only the caller waits for the jobs' end.
  jobs_.pending.fetch_sub(own, std::memory_order_release);
  return own < count_;
}

void Sequence::await_others() noexcept {
  for (int spins = 0; jobs_.pending.load(std::memory_order_acquire) > 0; ++spins) {
    constexpr int kSpinsBeforeYield = 200;
    if (spins > kSpinsBeforeYield) sched_yield();
    platform::pause();
  }
}

void Sequence::run_where_caller_waits() noexcept {
  caller_runs_some_ = true;
  fibers_.open(&jobs_, job_, call_, patient_);
}

void Sequence::take_part() noexcept {
  Fibers fibers;
  fibers.open(&jobs_, job_, call_, patient_);
  fibers.run();
  jobs_.pending.fetch_sub(fibers.close(), std::memory_order_release);
}

void Sequence::help_if_stuck() noexcept {
  const pid_t caller = thread_.load(std::memory_order_relaxed);
  const int64_t used = time_used_ns(caller);
  int64_t deadline = platform::now_ns() + kGraceNs;
  while (jobs_.claimable()) {
    platform::pause();
    if (platform::now_ns() < deadline) continue;
    // A caller that has lost its CPU is not stuck.
    if (time_used_ns(caller) - used >= kGraceNs / 2) {
      help();
      return;
    }
    deadline += kGraceNs;
  }
}

void Sequence::help() noexcept {
  const int index = jobs_.take();
  if (index < 0) return;
  const int64_t began = platform::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  job_(call_, index);
  const int64_t used = platform::clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
  // The call does not end before this job has, so `calls_` is still the number of the call that it belongs to.
  const bool was_stuck = calls_.load(std::memory_order_relaxed) == stuck_call_.load(std::memory_order_relaxed);
  if (waits_ == Waits::seen && was_stuck && used < kMuchLessNs) misjudged_.store(true, std::memory_order_relaxed);
  jobs_.pending.fetch_sub(1, std::memory_order_release);
}

bool Sequence::watch() noexcept {
  // The order matters: a monitor that is about to cease looking clears `g_watched` first, and then finds its watcher
  // set.
  g_watched.store(true);
  const bool watched = core::watch_ticks(look_at_all);
  if (!watched) g_watched.store(false);
  return watched;
}

// Called by the monitor at each tick. Returns whether it has to look again.
bool Sequence::look_at_all() noexcept {
  bool active = false;
  for (Sequence* each = g_all.load(std::memory_order_acquire); each != nullptr; each = each->next_) {
    active |= each->look();
  }
  g_calm_ticks = active ? 0 : g_calm_ticks + 1;
  if (g_calm_ticks < kTicksToWatchOn) return true;
  g_calm_ticks = 0;
  g_watched.store(false);
  platform::full_fence();
  // The list is read anew: a call that has begun since the first look may have seen that it was watched.
  for (const Sequence* each = g_all.load(std::memory_order_acquire); each != nullptr; each = each->next_) {
    if (!each->is_under_way()) continue;
    g_watched.store(true);
    return true;
  }
  // Gives back the stacks of all calls that have ended. A call that begins now sees that it is not watched.
  FiberStack::trim();
  return false;
}

// Helps the caller if it is stuck. Returns whether the record is in use, or was since the last look.
bool Sequence::look() noexcept {
  const uint32_t calls = calls_.load(std::memory_order_relaxed);
  const uint64_t claim = jobs_.claim.load(std::memory_order_relaxed);
  const bool same = calls == seen_calls_ && claim == seen_claim_;
  if (same && !jobs_.claimable()) return is_under_way();
  const int64_t time = time_used_ns(thread_.load(std::memory_order_relaxed));
  if (same && time - seen_time_ >= patience_ns_.load(std::memory_order_relaxed)) {
    help_caller(jobs_.unclaimed());
  } else if (!same) {
    seen_calls_ = calls;
    seen_claim_ = claim;
    seen_time_ = time;
    helpers_ = refused_ = 0;
  }
  return true;
}

// Makes threads for the jobs that are left: jobs that wait for each other have to run at the same time, and the pool's
// threads may do other things.
void Sequence::help_caller(int jobs) noexcept {
  const auto run_one = [](void* sequence) -> void* {
    static_cast<Sequence*>(sequence)->help();
    return nullptr;
  };
  stuck_call_.store(seen_calls_, std::memory_order_relaxed);
  for (; helpers_ < jobs; ++helpers_) {
    if (platform::start_service_thread(run_one, this, kStackSize)) continue;
    if (++refused_ < kTicksToGiveUp) return;
    refuse();
  }
}

void Sequence::forget_all() noexcept {
  g_watched.store(false, std::memory_order_relaxed);
  for (Sequence* each = g_all.load(std::memory_order_relaxed); each != nullptr; each = each->next_) {
    each->jobs_.claim.store(0, std::memory_order_relaxed);
    each->jobs_.pending.store(0, std::memory_order_relaxed);
  }
}

}  // namespace weft::interpose
