// SPDX-License-Identifier: Apache-2.0
// What the kernel says a thread of this process is doing.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace weft::platform {

enum class ThreadState { running, sleeping, ended, unknown };

// Reads /proc/self/task/<id>/stat; some microseconds. `ended` is said of the initial thread only, since others then
// vanish: `unknown` when the thread has gone or /proc is not there.
ThreadState thread_state(pid_t id) noexcept;

// Threads of this process that run or want to, the caller included; some 10 us per thread. 0 without /proc.
int running_threads() noexcept;

// Threads of the whole machine that run or want to, the caller included. Some microseconds; 0 without /proc.
int runnable_threads_of_machine() noexcept;

// CPUs of the whole machine.
int cpus_of_machine() noexcept;

// Whether some CPU of the machine has nothing to do while threads share others: no more threads want to run than there
// are CPUs. Some microseconds; false without /proc.
bool has_cpu_to_spare() noexcept;

struct RunTimes {
  int64_t ran_ns = 0;
  int64_t waited_ns = 0;  // for a CPU, while it wanted to run
};

// Since the thread of this process began, from /proc/self/task/<id>/schedstat; some microseconds. False when the thread
// has gone or the kernel does not count that.
bool run_times(pid_t id, RunTimes& times) noexcept;

// The CPU on which a thread of this process runs or is queued to run; -1 if it sleeps or is not there. Some 10 us.
int cpu_of_thread(pid_t id) noexcept;

// The word of the lock with priority inheritance (FUTEX_LOCK_PI of futex(2)) for which a thread of this process sleeps
// in the kernel; 0: for none, or the kernel does not say. Some 10 us.
uintptr_t awaited_pi_lock(pid_t id) noexcept;

}  // namespace weft::platform
