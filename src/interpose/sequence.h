// SPDX-License-Identifier: Apache-2.0
// The jobs of a call that its caller runs, alone or with those that come to help. Some jobs wait for each other, by
// spinning. Where they say so (interpose/wait_loops.h) each thread runs its jobs by turns. Where they do not, nobody
// can tell before: so others may claim what the caller has not come to, helpers that it has asked for, and the monitor
// when the caller is stuck. docs/explanation/process.md.
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

  // Whether jobs say so when they wait.
  enum class Waits : uint8_t { unseen, seen };

  // By the caller, which is attached (core/sched/scheduler.h): jobs 0 to count - 1 may be claimed from now on. False,
  // and none may: there is no monitor that would help, and it may be needed.
  bool begin(int count, Job job, void* call, Waits waits = Waits::unseen) noexcept;
  // By the caller, before any has come: helpers are on their way.
  void expect_help() noexcept { patient_ = true; }
  // By the caller: runs all that others do not. Whether others have run some.
  bool run_own() noexcept;
  // By the caller: returns when all have ended.
  void await_others() noexcept;
  bool run() noexcept {
    const bool helped = run_own();
    await_others();
    return helped;
  }
  // Then: whether jobs that were to say so have waited without a word.
  bool misjudged() const noexcept { return misjudged_.load(std::memory_order_relaxed); }
  // Between begin() and run(), by the caller, which goes on with something else: where it waits for jobs, it runs some.
  // Waits are seen.
  void run_where_caller_waits() noexcept;

  // By a helper: runs one job if the caller has left some for too long; returns early if it has not.
  void help_if_stuck() noexcept;
  // By a helper: runs jobs as the caller does. Waits are seen.
  void take_part() noexcept;

  // In the child of a fork nobody is in a call.
  static void forget_all() noexcept;

 private:
  void help() noexcept;
  static bool watch() noexcept;
  static bool look_at_all() noexcept;
  bool look() noexcept;
  // Acquire: what has ended has put its stacks back.
  bool is_under_way() const noexcept { return jobs_.pending.load(std::memory_order_acquire) > 0; }
  void help_caller(int jobs) noexcept;

  // Never published: no carrier finds it. Only its claims and the count of jobs that have not ended are of use here.
  core::ParallelCall jobs_;
  Job job_ = nullptr;
  void* call_ = nullptr;
  int count_ = 0;
  Waits waits_ = Waits::unseen;
  bool caller_runs_some_ = false;
  bool patient_ = false;
  Fibers fibers_;  // the caller's
  // Relaxed, all: the monitor looks twice, and at a wrong thread's time in vain.
  std::atomic<int64_t> patience_ns_{0};
  std::atomic<pid_t> thread_{0};
  std::atomic<uint32_t> calls_{0};
  // Relaxed: with the helper's end of its job, which the caller acquires, comes what it has found out.
  std::atomic<bool> misjudged_{false};
  // The call that the monitor has sent helpers to; others they may help, and learn nothing by it. Relaxed: written
  // before they are started.
  std::atomic<uint32_t> stuck_call_{0};

  // The monitor's.
  uint64_t seen_claim_ = 0;
  uint32_t seen_calls_ = 0;
  int64_t seen_time_ = 0;
  int helpers_ = 0;  // that it has started for this call
  int refused_ = 0;  // ticks at which it could not
  Sequence* next_ = nullptr;
};

}  // namespace weft::interpose
