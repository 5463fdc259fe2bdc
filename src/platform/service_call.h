// SPDX-License-Identifier: Apache-2.0
// Calls to a service thread (service_thread.h), from its own process or from another one of the same user. A header of
// its own, since tests/machine has another in its place.
//
// The thread has all signals blocked, and takes one that nobody else uses where it waits. So a call needs no handler, no
// file descriptor and no polling, and is kept while the thread does something else. The signal is a standard one: those
// do not queue, so no call is ever refused.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "platform/system_call.h"

namespace weft::platform {

inline constexpr int kServiceCall = SIGSTKFLT;

class ServiceCall {
 public:
  // By the service thread, before the first call of its own process.
  void begin() noexcept { thread_.store(static_cast<pid_t>(system_call(SYS_gettid)), std::memory_order_relaxed); }

  // Calls the thread, which has begun. In the child of a fork, where it is not, nothing happens.
  void call() const noexcept {
    system_call(SYS_tgkill, system_call(SYS_getpid), thread_.load(std::memory_order_relaxed), kServiceCall);
  }

  // By the service thread: sleeps until a call comes, or `ns` nanoseconds have passed (below 0: no limit). May return
  // early. Returns the process that has called, by the number that the caller's namespace has for it; 0: none.
  static pid_t await(int64_t ns) noexcept {
    constexpr int64_t kSecond = 1'000'000'000;
    const timespec limit{static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
    const uint64_t signals = uint64_t{1} << (kServiceCall - 1);
    siginfo_t info{};
    const long taken = system_call(SYS_rt_sigtimedwait, &signals, &info, ns < 0 ? nullptr : &limit, sizeof signals);
    return taken == kServiceCall ? info.si_pid : 0;
  }

 private:
  std::atomic<pid_t> thread_{0};  // relaxed: whoever calls has seen what the thread has stored since
};

}  // namespace weft::platform
