// SPDX-License-Identifier: Apache-2.0
// The jobs of a call that its caller runs one after the other, since they are too short to be divided. Most jobs do not
// wait for each other; some do, by spinning, and nobody can tell before. So others may claim what the caller has not
// come to: helpers that it has asked for, and the monitor when the caller is stuck. docs/design/process.md.
#pragma once

#include <atomic>
#include <cstdint>

#include <sys/types.h>

#include "core/bundle.h"

namespace weft::adopt {

// Records are never given back to the system: whoever comes late finds nothing to claim, or a job of the present call,
// which it may as well run.
class Sequence {
 public:
  using Job = void (*)(void* call, int index);

  Sequence() noexcept;
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  // By the caller, which is attached (core/scheduler.h): jobs 0 to count - 1 may be claimed from now on. False, and
  // none may: there is no monitor that would help.
  bool begin(int count, Job job, void* call) noexcept;
  // By the caller: runs all that others do not, and returns when all have ended. Whether others had to help.
  bool run() noexcept;

  // By a helper: runs one job if the caller has left some for too long; returns early if it has not.
  void help_if_stuck() noexcept;

  // In the child of a fork nobody is in a call.
  static void forget_all() noexcept;

 private:
  void help() noexcept;
  static bool watch() noexcept;
  static bool look_at_all() noexcept;
  bool look() noexcept;
  void help_caller(int jobs) noexcept;

  // Never published: no carrier finds it. Only its claims and the count of jobs that have not ended are of use here.
  core::Bundle jobs_;
  Job job_ = nullptr;
  void* call_ = nullptr;
  int count_ = 0;
  // Relaxed, both: the monitor looks twice, and at a wrong thread's time in vain.
  std::atomic<pid_t> thread_{0};
  std::atomic<uint32_t> calls_{0};

  // The monitor's.
  uint64_t seen_claim_ = 0;
  uint32_t seen_calls_ = 0;
  int64_t seen_time_ = 0;
  int helpers_ = 0;  // that it has started for this call
  int refused_ = 0;  // ticks at which it could not
  Sequence* next_ = nullptr;
};

}  // namespace weft::adopt
