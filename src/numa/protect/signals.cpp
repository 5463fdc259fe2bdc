// SPDX-License-Identifier: Apache-2.0
#include "numa/protect/signals.h"

#include <atomic>
#include <cerrno>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

#include "numa/collector/collector.h"
#include "numa/collector/real.h"
#include "numa/protect/fault.h"
#include "numa/protect/guard.h"
#include "numa/protect/threads.h"
#include "platform/raise_again.h"
#include "platform/system_call.h"

namespace weft::numa {

namespace {

using platform::system_call;

Real<int(int, const struct sigaction*, struct sigaction*)> g_sigaction{"sigaction"};
Real<int(int, const sigset_t*, sigset_t*)> g_sigprocmask{"sigprocmask"};
Real<int(int, const sigset_t*, sigset_t*)> g_pthread_sigmask{"pthread_sigmask"};
Real<int(const sigset_t*)> g_sigsuspend{"sigsuspend"};
Real<int(pollfd*, nfds_t, const timespec*, const sigset_t*)> g_ppoll{"ppoll"};
Real<int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)> g_pselect{"pselect"};
Real<int(int, epoll_event*, int, int, const sigset_t*)> g_epoll_pwait{"epoll_pwait"};
Real<int(int, epoll_event*, int, const timespec*, const sigset_t*)> g_epoll_pwait2{"epoll_pwait2"};
Real<sighandler_t(int, sighandler_t)> g_signal{"signal"};
Real<sighandler_t(int, sighandler_t)> g_sysv_signal{"sysv_signal"};
Real<sighandler_t(int, sighandler_t)> g_sigset{"sigset"};
Real<int(int)> g_sigignore{"sigignore"};
Real<int(int)> g_sighold{"sighold"};

// Whether the collector's handler is in force, and what the program believes is.
constinit std::atomic<bool> g_taken{false};
constinit struct sigaction g_program{};
// Of which signals the program's handler asks for a stack of its own, and runs on that of the thread for now.
constinit std::atomic<bool> g_off_stack[NSIG] = {};

// For g_program. Calls that set handlers are allowed in handlers: signals wait meanwhile.
class ActionLock {
 public:
  ActionLock() noexcept {
    constexpr uint64_t kAll = ~uint64_t{0};
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, &kAll, &before_, sizeof kAll);
    while (g_locked.exchange(true, std::memory_order_acquire)) {
      const timespec time{0, 20'000};
      system_call(SYS_nanosleep, &time, nullptr);
    }
  }
  ~ActionLock() {
    g_locked.store(false, std::memory_order_release);
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
  }
  ActionLock(const ActionLock&) = delete;
  ActionLock& operator=(const ActionLock&) = delete;

 private:
  static constinit std::atomic<bool> g_locked;
  uint64_t before_ = 0;
};
constinit std::atomic<bool> ActionLock::g_locked{false};

// As the kernel is to have the program's action: a thread that has the collector's stack alone handles signals on the
// one that it runs on, which has more room. The lock is held.
struct sigaction as_installed(int number, const struct sigaction& action) noexcept {
  struct sigaction installed = action;
  const bool off = (action.sa_flags & SA_ONSTACK) != 0 && !program_has_handler_stacks();
  if (off) installed.sa_flags &= ~SA_ONSTACK;
  g_off_stack[number].store(off);
  return installed;
}

// From here on the program handles faults itself, just as without the collector.
void give_back(Stop why) noexcept {
  guard_stop(why);
  // Threads whose fault at a protected page is on its way still find the collector's handler.
  const timespec time{0, 10'000'000};
  system_call(SYS_nanosleep, &time, nullptr);
  const ActionLock lock;
  if (!g_taken.exchange(false)) return;
  const struct sigaction action = as_installed(SIGSEGV, g_program);
  g_sigaction.get()(SIGSEGV, &action, nullptr);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const bool sent = platform::was_sent(info);
  if (!sent && info->si_code == SEGV_ACCERR &&
      guard_fault(reinterpret_cast<uintptr_t>(info->si_addr), access_of(context), code_of(context),
                  stack_of(context))) {
    return;
  }
  // The kernel found no place for a signal: the stack lies in an array.
  if (info->si_code == SI_KERNEL && guard_stack(stack_of(context))) return;
  give_back(Stop::own_handler);
  // A fault happens again by itself.
  if (!sent) return;
  const long process = system_call(SYS_getpid);
  const long thread = system_call(SYS_gettid);
  if (system_call(SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0) {
    system_call(SYS_tgkill, process, thread, signal);
  }
}

// `set` without SIGSEGV while pages may be protected; `room` holds it.
const sigset_t* unblocked(const sigset_t* set, sigset_t& room) noexcept {
  if (set == nullptr || !guard_is_on() || sigismember(set, SIGSEGV) != 1) return set;
  room = *set;
  sigdelset(&room, SIGSEGV);
  return &room;
}

// What handles SIGSEGV, for the program.
int exchange_action(const struct sigaction* action, struct sigaction* old) noexcept {
  struct sigaction wanted{};
  if (action != nullptr) wanted = *action;
  struct sigaction before{};
  {
    const ActionLock lock;
    if (!g_taken.load()) return g_sigaction.get()(SIGSEGV, action != nullptr ? &wanted : nullptr, old);
    before = g_program;
    if (action != nullptr) g_program = wanted;
  }
  if (old != nullptr) *old = before;
  return 0;
}

// A child by vfork() has handlers of its own, and the variables of its parent, whose pages it may touch.
bool is_foreign() noexcept {
  if (record() == nullptr || is_own_process()) return false;
  open_guard();
  return true;
}

int set_action(int number, const struct sigaction* action, struct sigaction* old) noexcept {
  const bool known = number > 0 && number < NSIG;
  if (!known || is_foreign()) return g_sigaction.get()(number, action, old);
  if (g_taken.load() && number == SIGSEGV) return exchange_action(action, old);
  if (!guard_is_on() && !g_off_stack[number].load()) return g_sigaction.get()(number, action, old);
  const ActionLock lock;
  const bool was_off = g_off_stack[number].load();
  struct sigaction before{};
  int result = 0;
  if (action == nullptr || !guard_is_on()) {
    result = g_sigaction.get()(number, action, &before);
    if (result == 0 && action != nullptr) g_off_stack[number].store(false);
  } else {
    struct sigaction allowed = as_installed(number, *action);
    sigdelset(&allowed.sa_mask, SIGSEGV);
    result = g_sigaction.get()(number, &allowed, &before);
    if (result != 0) g_off_stack[number].store(was_off);
  }
  if (was_off) before.sa_flags |= SA_ONSTACK;
  if (result == 0 && old != nullptr) *old = before;
  return result;
}

sighandler_t set_handler(sighandler_t handler, int flags) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  struct sigaction old{};
  return set_action(SIGSEGV, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// A call that sets a handler without a stack of its own.
void before_handler(int number) noexcept {
  if (number > 0 && number < NSIG) g_off_stack[number].store(false);
}

void give_back_if(int number) noexcept {
  before_handler(number);
  if (number == SIGSEGV && g_taken.load() && !is_foreign()) give_back(Stop::own_handler);
}

}  // namespace

void take_faults() noexcept {
  struct sigaction action{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  // Nothing may run on top of it that could fault itself.
  sigfillset(&action.sa_mask);
  if (g_sigaction.get()(SIGSEGV, &action, &g_program) != 0) return;
  g_taken.store(true);
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  g_pthread_sigmask.get()(SIG_UNBLOCK, &faults, nullptr);
}

bool faults_are_ours() noexcept {
  struct sigaction now{};
  return g_sigaction.get()(SIGSEGV, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == on_fault;
}

void give_faults_back() noexcept {
  if (g_taken.load()) give_back(Stop::none);
}

void put_handlers_on_stacks() noexcept {
  const ActionLock lock;
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction now{};
    if (!g_off_stack[number].exchange(false) || g_sigaction.get()(number, nullptr, &now) != 0) continue;
    now.sa_flags |= SA_ONSTACK;
    g_sigaction.get()(number, &now, nullptr);
  }
}

}  // namespace weft::numa

using namespace weft::numa;

extern "C" {

[[gnu::visibility("default")]] int sigaction(int number, const struct sigaction* action,
                                             struct sigaction* old) noexcept {
  return set_action(number, action, old);
}

[[gnu::visibility("default")]] sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (number == SIGSEGV) return set_handler(handler, SA_RESTART);
  before_handler(number);
  return g_signal.get()(number, handler);
}

[[gnu::visibility("default")]] sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  return signal(number, handler);
}

[[gnu::visibility("default")]] sighandler_t ssignal(int number, sighandler_t handler) noexcept {
  return signal(number, handler);
}

[[gnu::visibility("default")]] sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  if (number == SIGSEGV) return set_handler(handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
  before_handler(number);
  return g_sysv_signal.get()(number, handler);
}

[[gnu::visibility("default")]] sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return sysv_signal(number, handler);
}

[[gnu::visibility("default")]] sighandler_t sigset(int number, sighandler_t handler) noexcept {
  give_back_if(number);
  return g_sigset.get()(number, handler);
}

[[gnu::visibility("default")]] int sigignore(int number) noexcept {
  give_back_if(number);
  return g_sigignore.get()(number);
}

[[gnu::visibility("default")]] int sighold(int number) noexcept {
  give_back_if(number);
  return g_sighold.get()(number);
}

[[gnu::visibility("default")]] int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  sigset_t room;
  return g_sigprocmask.get()(how, how == SIG_UNBLOCK ? set : unblocked(set, room), old);
}

[[gnu::visibility("default")]] int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  sigset_t room;
  return g_pthread_sigmask.get()(how, how == SIG_UNBLOCK ? set : unblocked(set, room), old);
}

// Cancellation points: not noexcept.

[[gnu::visibility("default")]] int sigsuspend(const sigset_t* set) {
  sigset_t room;
  return g_sigsuspend.get()(unblocked(set, room));
}

[[gnu::visibility("default")]] int ppoll(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* set) {
  const Hold hold(reinterpret_cast<uintptr_t>(files), count * sizeof *files);
  sigset_t room;
  return g_ppoll.get()(files, count, limit, unblocked(set, room));
}

[[gnu::visibility("default")]] int pselect(int count, fd_set* in, fd_set* out, fd_set* except, const timespec* limit,
                                           const sigset_t* set) {
  sigset_t room;
  return g_pselect.get()(count, in, out, except, limit, unblocked(set, room));
}

[[gnu::visibility("default")]] int epoll_pwait(int file, epoll_event* events, int most, int limit,
                                               const sigset_t* set) {
  const Hold hold(reinterpret_cast<uintptr_t>(events), static_cast<size_t>(most > 0 ? most : 0) * sizeof *events);
  sigset_t room;
  return g_epoll_pwait.get()(file, events, most, limit, unblocked(set, room));
}

[[gnu::visibility("default")]] int epoll_pwait2(int file, epoll_event* events, int most, const timespec* limit,
                                                const sigset_t* set) {
  const Hold hold(reinterpret_cast<uintptr_t>(events), static_cast<size_t>(most > 0 ? most : 0) * sizeof *events);
  const Hold of_limit(reinterpret_cast<uintptr_t>(limit), sizeof *limit);
  sigset_t room;
  if (g_epoll_pwait2.get() == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  return g_epoll_pwait2.get()(file, events, most, limit, unblocked(set, room));
}

}  // extern "C"
