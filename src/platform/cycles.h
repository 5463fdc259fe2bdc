// SPDX-License-Identifier: Apache-2.0
// Short waits: the pause hint and a cheap clock; and the clock of CPU time.
#pragma once

#include <cstdint>
#include <ctime>

#include <sys/types.h>

namespace weft::platform {

// Tells the core that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

inline int64_t clock_ns(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Nanoseconds of CLOCK_MONOTONIC; some 20 ns per call.
inline int64_t now_ns() noexcept { return clock_ns(CLOCK_MONOTONIC); }

// A clock that takes less time to read, for differences on one thread: what it counts has no common unit. A thread that
// has moved to another CPU may see it go back.
inline int64_t ticks() noexcept {
#if defined(__x86_64__)
  return static_cast<int64_t>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  int64_t now = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return now_ns();
#endif
}

// About as many of them as pass in 20 microseconds: between half and four times that.
inline int64_t ticks_of_20_us() noexcept {
#if defined(__x86_64__)
  return 50'000;
#elif defined(__aarch64__)
  int64_t per_second = 0;
  asm("mrs %0, cntfrq_el0" : "=r"(per_second));
  return per_second / 50'000;
#else
  return 20'000;
#endif
}

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
