// SPDX-License-Identifier: Apache-2.0
// Calls to a service thread (service_thread.h), from its own process or from another one of the same user. A header of
// its own, since tests/machine has another in its place.
//
// The thread has all signals blocked, and takes one that nobody else uses where it waits. So a call needs no handler,
// no file descriptor and no polling, and is kept while the thread does something else. The signal is a standard one:
// those do not queue, so none is refused for want of room. Where a sandbox refuses it, a futex takes its place.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "platform/futex.h"
#include "platform/system_call.h"

namespace weft::platform {

inline constexpr int kServiceCall = SIGSTKFLT;

class ServiceCall {
 public:
  // By the service thread, before the first call of its own process. `wanted`: whether others may call it, too.
  void begin(bool wanted) noexcept {
    thread_.store(static_cast<pid_t>(system_call(SYS_gettid)), std::memory_order_relaxed);
    by_signal_.store(wanted && is_blocked() && send() && take(0) > 0, std::memory_order_relaxed);
  }

  // In the child of a fork: there is no thread.
  void forget() noexcept { thread_.store(0, std::memory_order_relaxed); }

  // Calls the thread, which has begun.
  void call() noexcept {
    if (by_signal_.load(std::memory_order_relaxed) && send()) return;
    called_.store(1);
    futex_wake(called_, 1);
  }

  // By the service thread: sleeps until a call comes, or `ns` nanoseconds have passed (below 0: no limit). May return
  // early. Returns the process that has called, by the number that the caller's namespace has for it; 0: none.
  pid_t await(int64_t ns) noexcept {
    if (by_signal_.load(std::memory_order_relaxed)) {
      const pid_t caller = take(ns);
      if (caller >= 0) return caller;
      by_signal_.store(false, std::memory_order_relaxed);
    }
    if (ns < 0) {
      futex_wait(called_, 0);
    } else if (ns > 0) {
      futex_wait_for(called_, 0, ns);
    }
    called_.store(0);
    return 0;
  }

 private:
  static constexpr int64_t kSecond = 1'000'000'000;

  // Where a sandbox has kept the signals from being blocked, this one would end the process.
  static bool is_blocked() noexcept {
    uint64_t blocked = 0;
    const long error = system_call(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &blocked, sizeof blocked);
    return error == 0 && (blocked >> (kServiceCall - 1) & 1) != 0;
  }

  bool send() const noexcept {
    return system_call(SYS_tgkill, system_call(SYS_getpid), thread_.load(std::memory_order_relaxed), kServiceCall) == 0;
  }

  // Below 0: the system does not let the thread wait so.
  static pid_t take(int64_t ns) noexcept {
    const timespec limit{static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
    const uint64_t signals = uint64_t{1} << (kServiceCall - 1);
    siginfo_t info{};
    const long taken = system_call(SYS_rt_sigtimedwait, &signals, &info, ns < 0 ? nullptr : &limit, sizeof signals);
    if (taken == kServiceCall) return info.si_code == SI_TKILL ? info.si_pid : 0;
    return taken == -EAGAIN || taken == -EINTR ? 0 : -1;
  }

  // Relaxed: whoever calls has seen what the thread has stored since.
  std::atomic<pid_t> thread_{0};
  std::atomic<bool> by_signal_{false};
  std::atomic<uint32_t> called_{0};
};

}  // namespace weft::platform
