// SPDX-License-Identifier: Apache-2.0
// libc's functions that send a signal to one thread, redirected to ours: the runtime is asked first, since a thread of
// a parallel region may be run by another OS thread than its own. Used by the audit library, which has no libc, and by
// the runtime.
#pragma once

#include <cerrno>
#include <cstring>

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "platform/loaded_object.h"
#include "platform/redirect.h"
#include "platform/system_call.h"

namespace weft::platform {

// Sends a signal to the thread, or if that is 0 to the one whose OS thread has the number. Negative: the runtime has
// nothing to do with that thread. Else what pthread_kill returns.
using SendToThread = int (*)(pthread_t thread, pid_t number, const siginfo_t* info);

// `Runtime::send()` gives the runtime's function; null: it is not there.
template <class Runtime>
class ThreadSignals {
 public:
  // In `libc`, which nobody runs code of but the caller.
  static void redirect(const LoadedObject& libc) noexcept {
    g_clock = reinterpret_cast<Clock>(libc.find("pthread_getcpuclockid"));
    g_self = reinterpret_cast<Self>(libc.find("pthread_self"));
    g_errno = reinterpret_cast<Errno>(libc.find("__errno_location"));
    if (g_clock == nullptr || g_self == nullptr || g_errno == nullptr) return;
    const void* older = libc.find_older("pthread_kill");
    libc.for_each_defined([older](const char* name, void* function, size_t size) {
      const void* ours = nullptr;
      if (std::strcmp(name, "pthread_kill") == 0) {
        ours = reinterpret_cast<const void*>(function == older ? kill<ESRCH> : kill<0>);
      }
      if (std::strcmp(name, "pthread_sigqueue") == 0) ours = reinterpret_cast<const void*>(queue);
      if (std::strcmp(name, "tgkill") == 0) ours = reinterpret_cast<const void*>(kill_number);
      // A function has an entry for each version.
      if (ours != nullptr && size >= kJumpSize && !is_jump(function)) jump_to(function, ours);
      return false;
    });
  }

 private:
  using Clock = int (*)(pthread_t, clockid_t*);
  using Self = pthread_t (*)();
  using Errno = int* (*)();
  static inline Clock g_clock = nullptr;
  static inline Self g_self = nullptr;
  static inline Errno g_errno = nullptr;

  static siginfo_t made(int signal, int code) noexcept {
    siginfo_t info;
    // Not by an initializer, which may become a call of a function that is not there.
    std::memset(&info, 0, sizeof info);
    info.si_signo = signal;
    info.si_code = code;
    info.si_pid = static_cast<pid_t>(system_call(SYS_getpid));
    info.si_uid = static_cast<uid_t>(system_call(SYS_getuid));
    return info;
  }

  // Negative: the caller is to do it.
  static int ask(pthread_t thread, pid_t number, const siginfo_t& info) noexcept {
    const SendToThread send = Runtime::send();
    return send != nullptr ? send(thread, number, &info) : -1;
  }

  // libc keeps signals for itself.
  static bool is_valid(int signal) noexcept { return signal != 32 && signal != 33; }

  // The number of the thread's OS thread; libc tells it by the thread's clock only, and not when the thread has ended.
  static pid_t number_of(pthread_t thread) noexcept {
    if (thread == g_self()) return static_cast<pid_t>(system_call(SYS_gettid));
    clockid_t clock = 0;
    constexpr int kBitsBeside = 3;
    return g_clock(thread, &clock) == 0 ? static_cast<pid_t>(~(clock >> kBitsBeside)) : 0;
  }

  // `gone`: the answer of the function's version for a thread that has ended.
  template <int gone>
  static int kill(pthread_t thread, int signal) noexcept {
    constexpr int kSentByThread = -6;  // SI_TKILL
    if (!is_valid(signal)) return EINVAL;
    if (const int done = ask(thread, 0, made(signal, kSentByThread)); done >= 0) return done;
    const pid_t number = number_of(thread);
    if (number == 0) return gone;
    const int error = -static_cast<int>(system_call(SYS_tgkill, system_call(SYS_getpid), number, signal));
    return error == ESRCH ? gone : error;
  }

  static int queue(pthread_t thread, int signal, sigval value) noexcept {
    constexpr int kQueued = -1;  // SI_QUEUE
    const pid_t number = number_of(thread);
    if (number == 0) return ESRCH;
    if (!is_valid(signal)) return EINVAL;
    siginfo_t info = made(signal, kQueued);
    info.si_value = value;
    if (const int done = ask(thread, 0, info); done >= 0) return done;
    return -static_cast<int>(system_call(SYS_rt_tgsigqueueinfo, info.si_pid, number, signal, &info));
  }

  static int kill_number(pid_t process, pid_t number, int signal) noexcept {
    constexpr int kSentByThread = -6;
    const siginfo_t info = made(signal, kSentByThread);
    int done = process == info.si_pid && number > 0 ? ask(0, number, info) : -1;
    if (done < 0) done = -static_cast<int>(system_call(SYS_tgkill, process, number, signal));
    if (done == 0) return 0;
    *g_errno() = done;
    return -1;
  }
};

}  // namespace weft::platform
