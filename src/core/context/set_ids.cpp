// SPDX-License-Identifier: Apache-2.0
#include "core/context/set_ids.h"

#include <atomic>
#include <cstdint>

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "core/context/donor.h"
#include "core/context/roster.h"
#include "platform/futex.h"
#include "platform/thread_pointer.h"

// The handler interrupts whatever runs, also between the change of identity and that of the stack; and it runs on a
// parked donor while somebody else has the donor's identity. So this file has no instrumentation (CMakeLists.txt), and
// touches no thread-local object before the caller is known, errno neither: the system calls made before that do not
// fail. libc's handler is of the same kind: atomic operations on its record, and system calls that leave errno alone.

namespace weft::core {

namespace {

// Its number is not in any header: neither sigaction() nor pthread_sigmask() lets a program touch it. So no thread can
// block it either, and a donor, which blocks all others, has it too.
constexpr int kSetIds = 33;

using Handler = void (*)(int, siginfo_t*, void*);

// The argument of the system call rt_sigaction(), which has the same layout on both machines.
struct Action {
  Handler handler = nullptr;
  unsigned long flags = 0;
  void (*restorer)() = nullptr;
  uint64_t mask = 0;
};

// libc's. Release and acquire: a thread that runs our handler sees it.
std::atomic<Handler> g_libc{nullptr};

// What the caller of setuid() asks of the OS thread that has got no signal: to run libc's handler under `identity`.
// There is one request at a time, since libc holds a lock meanwhile.
struct HandlerRequest {
  enum State : uint32_t { none, wanted, done };
  // Release by the side that is through with the fields, acquire by the other.
  std::atomic<uint32_t> state{none};
  uintptr_t identity = 0;  // to run libc's handler under
  siginfo_t info{};        // to run it with
};
HandlerRequest g_handler_request;

void run_libcs_under(uintptr_t identity, int signal, siginfo_t* info, void* context) noexcept {
  const Handler handler = g_libc.load(std::memory_order_acquire);
  const uintptr_t mine = platform::thread_pointer();
  platform::set_thread_pointer(identity);
  handler(signal, info, context);
  platform::set_thread_pointer(mine);
}

// The identity that the calling thread was born with. Only carriers and donors ever run under another one.
uintptr_t born_with(pid_t thread) noexcept {
  const uintptr_t identity = own_identity(thread);
  return identity != 0 ? identity : platform::thread_pointer();
}

// Whether the code that `context` describes stands right behind the system call by which it sent itself this signal.
// The kernel delivers that before the call returns, and leaves its arguments in the registers.
bool has_just_sent_it(const ucontext_t* context, pid_t thread) noexcept {
#if defined(__x86_64__)
  const auto& registers = context->uc_mcontext.gregs;
  return registers[REG_RCX] == registers[REG_RIP] && registers[REG_RAX] == 0 && registers[REG_RDI] == getpid() &&
         registers[REG_RSI] == thread && registers[REG_RDX] == kSetIds;
#elif defined(__aarch64__)
  const auto& registers = context->uc_mcontext.regs;
  return registers[8] == SYS_tgkill && registers[0] == 0 && registers[1] == static_cast<uint64_t>(thread) &&
         registers[2] == kSetIds;
#endif
}

// If `context` is the beginning of another signal's handler, returns what that signal has interrupted; else null. That
// signal came together with this one, and its handler has not run any instruction: the kernel has laid its frame on the
// stack and put its arguments into the registers.
const ucontext_t* interrupted_by_handler(const ucontext_t* context) noexcept {
#if defined(__x86_64__)
  const auto& registers = context->uc_mcontext.gregs;
  constexpr greg_t kReturnAddress = 8;
  if (registers[REG_RDX] != registers[REG_RSP] + kReturnAddress) return nullptr;
  return reinterpret_cast<const ucontext_t*>(registers[REG_RDX]);
#elif defined(__aarch64__)
  const auto& machine = context->uc_mcontext;
  if (machine.regs[1] != machine.sp || machine.regs[2] != machine.sp + sizeof(siginfo_t)) return nullptr;
  return reinterpret_cast<const ucontext_t*>(machine.regs[2]);
#endif
}

// Whether the thread that was interrupted is the caller of setuid(): the thread with its identity gets no other such
// signal.
bool is_caller(const void* interrupted, pid_t thread) noexcept {
  constexpr int kMostSignalsAtOnce = 8;
  const auto* context = static_cast<const ucontext_t*>(interrupted);
  for (int i = 0; i < kMostSignalsAtOnce && context != nullptr; ++i) {
    if (has_just_sent_it(context, thread)) return true;
    context = interrupted_by_handler(context);
  }
  return false;
}

void run_libcs_and_return(void* info) noexcept {
  g_libc.load(std::memory_order_acquire)(kSetIds, static_cast<siginfo_t*>(info), nullptr);
}

// Has the OS thread whose identity the caller bears run libc's handler in the caller's place; false: it cannot.
bool hand_over(const siginfo_t* info, uintptr_t identity) noexcept {
  const base::KeepErrno keep;
  Context* caller = current_context();
  if (lacks_thread(caller)) {
    // There is no such thread. One that is made for this alone has the old ids, as all others have had.
    siginfo_t copy = *info;
    return run_apart(identity, run_libcs_and_return, &copy);
  }
  g_handler_request.identity = identity;
  g_handler_request.info = *info;
  const pid_t owner = caller->thread_id;
  g_handler_request.state.store(HandlerRequest::wanted, std::memory_order_release);
  siginfo_t request{};
  request.si_code = SI_QUEUE;
  request.si_pid = getpid();
  request.si_value.sival_ptr = &g_handler_request;
  if (syscall(SYS_rt_tgsigqueueinfo, getpid(), owner, kSetIds, &request) != 0) {
    g_handler_request.state.store(HandlerRequest::none, std::memory_order_relaxed);
    return false;
  }
  while (g_handler_request.state.load(std::memory_order_acquire) == HandlerRequest::wanted) {
    platform::futex_wait(g_handler_request.state, HandlerRequest::wanted);
  }
  return true;
}

void run_requested_handler(int signal, void* context) noexcept {
  if (g_handler_request.state.load(std::memory_order_acquire) != HandlerRequest::wanted) return;
  run_libcs_under(g_handler_request.identity, signal, &g_handler_request.info, context);
  g_handler_request.state.store(HandlerRequest::done, std::memory_order_release);
  platform::futex_wake(g_handler_request.state, 1);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  if (info->si_code == SI_QUEUE && info->si_value.sival_ptr == &g_handler_request) {
    run_requested_handler(signal, context);
    return;
  }
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  const uintptr_t own = born_with(thread);
  if (own != platform::thread_pointer() && is_caller(context, thread) && hand_over(info, own)) return;
  run_libcs_under(own, signal, info, context);
}

}  // namespace

void watch_set_ids() noexcept {
  const base::KeepErrno keep;
  Action action;
  if (syscall(SYS_rt_sigaction, kSetIds, nullptr, &action, sizeof action.mask) != 0) return;
  constexpr unsigned long kWithInfo = SA_SIGINFO;
  if (action.handler == nullptr || action.handler == on_signal || (action.flags & kWithInfo) == 0) return;
  g_libc.store(action.handler, std::memory_order_release);
  action.handler = on_signal;
  syscall(SYS_rt_sigaction, kSetIds, &action, nullptr, sizeof action.mask);
}

}  // namespace weft::core
