// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/thread_signals.h"

#include <cerrno>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "core/api/budget.h"
#include "core/api/thread.h"
#include "platform/system_call.h"

namespace weft::openmp {

namespace {

// libc's.
int (*g_pthread_kill)(pthread_t, int);
int (*g_pthread_kill_before)(pthread_t, int);  // of programs linked with glibc 2.33 or older
int (*g_pthread_sigqueue)(pthread_t, int, sigval);
int (*g_tgkill)(pid_t, pid_t, int);

constexpr int kCancel = 32, kSetIds = 33;  // libc's own

siginfo_t made(int signal, int code) noexcept {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = code;
  info.si_pid = getpid();
  info.si_uid = getuid();
  return info;
}

// To a member whose identity has no OS thread: of what no handler gets, 0 asks whether the thread lives, and the others
// are for the whole process wherever they come.
int send_to_process(int signal) noexcept {
  if (signal == kCancel || signal == kSetIds) return EINVAL;
  return static_cast<int>(-platform::system_call(SYS_kill, getpid(), signal));
}

// kNoContext: the caller is to ask libc.
int send(pthread_t thread, const siginfo_t& info) noexcept {
  const int done = core::started() ? core::send_signal(thread, info) : core::kNoContext;
  if (done != core::kNoContext) return done;
  // For the OS thread that runs the caller libc asks the caller's record: always for a value, before glibc 2.34 too.
  const bool to_caller = pthread_equal(thread, pthread_self()) != 0;
  if (!to_caller && core::started() && core::lacks_thread(thread)) return send_to_process(info.si_signo);
  if (!to_caller || info.si_signo == kCancel || info.si_signo == kSetIds) return core::kNoContext;
  // A sandbox may refuse the call that takes a value, which only pthread_sigqueue() needs.
  const long failed = info.si_code == SI_TKILL
                          ? platform::system_call(SYS_tgkill, info.si_pid, gettid(), info.si_signo)
                          : platform::system_call(SYS_rt_tgsigqueueinfo, info.si_pid, gettid(), info.si_signo, &info);
  return -static_cast<int>(failed);
}

int our_pthread_kill(pthread_t thread, int signal) {
  const int done = send(thread, made(signal, SI_TKILL));
  return done == core::kNoContext ? g_pthread_kill(thread, signal) : done;
}

// The one that says ESRCH of a thread that has ended.
int our_pthread_kill_before(pthread_t thread, int signal) {
  const int done = send(thread, made(signal, SI_TKILL));
  return done == core::kNoContext ? g_pthread_kill_before(thread, signal) : done;
}

int our_pthread_sigqueue(pthread_t thread, int signal, sigval value) {
  siginfo_t info = made(signal, SI_QUEUE);
  info.si_value = value;
  const int done = send(thread, info);
  return done == core::kNoContext ? g_pthread_sigqueue(thread, signal, value) : done;
}

int our_tgkill(pid_t process, pid_t number, int signal) {
  const siginfo_t info = made(signal, SI_TKILL);
  const bool may_be_ours = process == info.si_pid && number > 0 && core::started();
  const int done = may_be_ours ? core::send_signal_by_number(number, info) : core::kNoContext;
  if (done == core::kNoContext) return g_tgkill(process, number, signal);
  if (done == 0) return 0;
  errno = done;
  return -1;
}

#if defined(__x86_64__)
constexpr char kOldest[] = "GLIBC_2.2.5";
#elif defined(__aarch64__)
constexpr char kOldest[] = "GLIBC_2.17";
#endif

}  // namespace

platform::LibcCalls signal_calls() noexcept {
  using platform::others_to_ours;
  static const platform::LibcCall calls[] = {
      others_to_ours("pthread_kill", our_pthread_kill, &g_pthread_kill),
      others_to_ours("pthread_kill", our_pthread_kill_before, &g_pthread_kill_before, kOldest),
      others_to_ours("pthread_sigqueue", our_pthread_sigqueue, &g_pthread_sigqueue),
      others_to_ours("tgkill", our_tgkill, &g_tgkill),
  };
  return calls;
}

}  // namespace weft::openmp
