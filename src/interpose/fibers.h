// SPDX-License-Identifier: Apache-2.0
// Jobs of one call, run by one thread by turns: where a job waits for others (interpose/wait_loops.h), the thread goes
// on with another one of them, on a stack of its own. So however many jobs a call has, any number of threads can run
// it. All of them have the thread's identity; the library's jobs know of none. docs/explanation/process.md.
#pragma once

#include <cstdint>

#include "core/api/records.h"

namespace weft::interpose {

// What one thread does for one call. Calls may nest: those of a thread are closed in the reverse order.
class Fibers {
 public:
  using Job = void (*)(void* call, int index);

  // Jobs that nobody has claimed from `jobs` may be begun from now on, where the caller waits in the library; it is the
  // first of the fibers. Where others are on their way (`patient`) it leaves them the time to come before it begins a
  // second one. The thread is attached (core/sched/scheduler.h).
  void open(core::ParallelCall* jobs, Job job, void* call, bool patient) noexcept;
  // Begins jobs until all are claimed.
  void run() noexcept;
  // Returns when those that have been begun here have ended; how many there were.
  int close() noexcept;

  // Whether this machine can do it.
  static bool possible() noexcept;

  // What jobs call when they wait; it keeps all registers. Null: there is none for this machine.
  static const void* wait_entry() noexcept;

  // By that: whether there is anything else to do, and to do it.
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
  Fiber* ended_ = nullptr;  // for the one that goes on, whose stack is to be put back
  Fiber* ring_ = nullptr;  // one of those that have begun and not ended; null: there is none
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
