// SPDX-License-Identifier: Apache-2.0
// Clocks, and what short waits need.
#pragma once

#include <cstdint>
#include <ctime>

#include <sys/types.h>

#include "platform/cpu_instructions.h"

namespace weft::platform {

inline int64_t clock_ns(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Nanoseconds of CLOCK_MONOTONIC; some 20 ns per call.
inline int64_t now_ns() noexcept { return clock_ns(CLOCK_MONOTONIC); }

// CPU time that all threads of this process have used, in nanoseconds; a system call.
inline int64_t cpu_time_ns() noexcept { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

// CPU time that the thread `id` of this process has used, in nanoseconds; 0 when it has gone or the system does not
// tell. A system call. The clock's number is what the kernel makes of a thread's (include/linux/posix-timers_types.h),
// as pthread_getcpuclockid() does.
inline int64_t cpu_time_of_thread_ns(pid_t id) noexcept {
  constexpr unsigned kOfThread = 4, kScheduled = 2;
  return clock_ns(static_cast<clockid_t>(~static_cast<unsigned>(id) << 3 | kOfThread | kScheduled));
}

}  // namespace weft::platform
