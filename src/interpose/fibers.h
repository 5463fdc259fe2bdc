// SPDX-License-Identifier: Apache-2.0
// Fibers: jobs of one call that one thread runs by turns. Where a job waits for others (interpose/wait_loops.h), the
// thread goes on with another job, which has a stack of its own. So any number of threads can run a call, however many
// jobs it has. All fibers have the thread's identity: the library's jobs use nothing of a thread.
// docs/explanation/process.md.
#pragma once

#include <cstdint>

#include "core/api/records.h"

namespace weft::interpose {

// The fibers of one thread for one call. Calls may nest: a thread closes them in the reverse order.
class Fibers {
 public:
  using Job = void (*)(void* call, int index);

  // From now on unclaimed jobs of `jobs` may be begun where the caller waits in the library; the caller is the first
  // fiber. `patient`: other threads are on their way, so the caller gives them time to come before it begins a second
  // job. The thread is attached (core/sched/scheduler.h).
  void open(core::ParallelCall* jobs, Job job, void* call, bool patient) noexcept;
  // Begins jobs until all are claimed.
  void run() noexcept;
  // Returns when the jobs that have been begun here have ended, and how many these were.
  int close() noexcept;

  // Whether this machine can do it.
  static bool possible() noexcept;

  // The function that jobs call when they wait; it keeps all registers. Null: there is none for this machine.
  static const void* wait_entry() noexcept;

  // Called by that function: whether there are other jobs to run; and runs them.
  static bool others_to_run() noexcept;  // called in a loop
  static void run_others() noexcept;

 private:
  struct Fiber;
  struct Switch;

  void switch_to(Fiber* target) noexcept;
  void begin(Fiber* fiber, int index) noexcept;
  void run_one(int index) noexcept;

  const uint64_t* claim_ = nullptr;  // the word of `jobs_`, as it lies in memory
  Fiber* current_ = nullptr;  // null: the caller, outside of the ring of fibers
  Fiber* ended_ = nullptr;  // a fiber that has ended: the one that goes on puts its stack back
  Fiber* ring_ = nullptr;  // one of the fibers that have begun and not ended, which form a ring; null: there is none
  void* caller_ = nullptr;  // where the caller goes on
  int looks_left_ = 0;  // until it begins another job
  bool closing_ = false;
  bool refused_ = false;  // the system has refused a stack
  int ran_ = 0;
  core::ParallelCall* jobs_ = nullptr;
  Job job_ = nullptr;
  void* call_ = nullptr;
  Fibers* outer_ = nullptr;
};

}  // namespace weft::interpose
