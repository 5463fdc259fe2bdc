// SPDX-License-Identifier: Apache-2.0
// The jobs of a call that its caller runs one after the other, alone or with helpers. Some jobs wait for each other by
// spinning. Where jobs call weft when they wait (interpose/wait_loops.h), each thread runs its jobs by turns. Where
// they do not, it cannot be told before whether they wait. So others may claim jobs that the caller has not come to:
// helpers that it has asked for, and helpers that the monitor sends when the caller is stuck.
// docs/explanation/process.md.
#pragma once

#include <atomic>
#include <cstdint>

#include <sys/types.h>

#include "core/api/records.h"
#include "interpose/fibers.h"

namespace weft::interpose {

// Records are never given back to the system: a carrier that comes late finds nothing to claim, or a job of the present
// call, which it may as well run.
class Sequence {
 public:
  using Job = void (*)(void* call, int index);

  Sequence() noexcept;
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  // Whether jobs call weft when they wait.
  enum class Waits : uint8_t { unseen, seen };

  // Called by the caller, which is attached (core/sched/scheduler.h): jobs 0 to count - 1 may be claimed from now on.
  // Returns false, and none may be, where there is no monitor, whose help may be needed.
  bool begin(int count, Job job, void* call, Waits waits = Waits::unseen) noexcept;
  // Called by the caller before any helper has come: helpers are on their way.
  void expect_help() noexcept { patient_ = true; }
  // Called by the caller: runs all jobs that others do not run. Returns whether others have run some.
  bool run_own() noexcept;
  // Called by the caller: returns when all jobs have ended.
  void await_others() noexcept;
  bool run() noexcept {
    const bool helped = run_own();
    await_others();
    return helped;
  }
  // After that: whether jobs that were to call weft when they wait have waited without a call.
  bool misjudged() const noexcept { return misjudged_.load(std::memory_order_relaxed); }
  // Called by the caller between begin() and run(), where it goes on with something else: where it waits for jobs, it
  // runs some. For jobs whose waits are seen.
  void run_where_caller_waits() noexcept;

  // Called by a helper: runs one job if the caller has left some unclaimed for too long, else returns.
  void help_if_stuck() noexcept;
  // Called by a helper: runs jobs as the caller does. For jobs whose waits are seen.
  void take_part() noexcept;

  // In the child of a fork no thread is in a call.
  static void forget_all() noexcept;

 private:
  void help() noexcept;
  static bool watch() noexcept;
  static bool look_at_all() noexcept;
  bool look() noexcept;
  // Acquire: jobs that have ended have put their stacks back.
  bool is_under_way() const noexcept { return jobs_.pending.load(std::memory_order_acquire) > 0; }
  void help_caller(int jobs) noexcept;

  // It is never published, so no carrier finds it. Only its claims, and its count of jobs that have not ended, are
  // used.
  core::ParallelCall jobs_;
  Job job_ = nullptr;
  void* call_ = nullptr;
  int count_ = 0;
  Waits waits_ = Waits::unseen;
  bool caller_runs_some_ = false;
  bool patient_ = false;
  Fibers fibers_;  // the caller's
  // Relaxed, all: the monitor looks twice before it acts, and a look at a wrong thread's time does no harm.
  std::atomic<int64_t> patience_ns_{0};
  std::atomic<pid_t> thread_{0};
  std::atomic<uint32_t> calls_{0};
  // Relaxed: the caller acquires the end of the helper's job, and so sees what the helper has found out.
  std::atomic<bool> misjudged_{false};
  // The call that the monitor has sent helpers to. They may help other calls, but draw conclusions only from this one.
  // Relaxed: written before the helpers are started.
  std::atomic<uint32_t> stuck_call_{0};

  // Used by the monitor alone.
  uint64_t seen_claim_ = 0;
  uint32_t seen_calls_ = 0;
  int64_t seen_time_ = 0;
  int helpers_ = 0;  // how many helpers it has started for this call
  int refused_ = 0;  // at how many ticks it could not start one
  Sequence* next_ = nullptr;
};

}  // namespace weft::interpose
