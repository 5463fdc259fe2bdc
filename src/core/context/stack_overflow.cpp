// SPDX-License-Identifier: Apache-2.0
#include "core/context/stack_overflow.h"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "base/message.h"
#include "core/context/context.h"
#include "platform/raise_again.h"

namespace weft::core {

namespace {

size_t g_stack_size = 0;  // written before the handler is installed

// Runs on the alternate stack, under the identity of the context that faulted.
void on_fault(int signal, siginfo_t* fault, void*) {
  const auto address = reinterpret_cast<uintptr_t>(fault->si_addr);
  const uintptr_t end = platform::was_sent(fault) ? 0 : current_context()->stack_end;
  if (end != 0 && address < end && end - address <= kGuardSize) {
    base::warn(
        "stack overflow in a thread of a parallel region, whose stack is %zu KB; "
        "set OMP_STACKSIZE to more (OMP_STACKSIZE=%zuM)",
        g_stack_size >> 10, std::max<size_t>(1, g_stack_size >> 19));
  }
  // It ends the program the usual way.
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  platform::raise_again(signal, fault, usual);
}

}  // namespace

uintptr_t stack_end_of(pthread_t thread) noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(thread, &attributes) != 0) return 0;
  void* lowest = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uintptr_t>(lowest);
}

void watch_stacks(size_t stack_size) noexcept {
  struct sigaction now{};
  if (sigaction(SIGSEGV, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) return;
  g_stack_size = stack_size;
  struct sigaction ours{};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, nullptr);
}

namespace {

// Of madvise(2), which older headers lack.
constexpr int kInstallGuard = 102;
constexpr int kRemoveGuard = 103;

// Large enough for handlers that had the whole of a member's stack; memory that is not touched costs none.
size_t usable_size() noexcept {
  constexpr size_t kLeast = 256u << 10;
  const auto wanted = static_cast<size_t>(std::max(0L, sysconf(_SC_SIGSTKSZ)));
  // In whole guards, and so in whole pages.
  return (std::max(kLeast, wanted) + kGuardSize - 1) & ~(kGuardSize - 1);
}

// An emulator may take the advice and do nothing.
bool faults(const char* guard) noexcept {
  // Relaxed: each thread that asks gets the same answer.
  enum Answer : int { unknown, yes, no };
  static constinit std::atomic<int> known{unknown};
  if (known.load(std::memory_order_relaxed) == unknown) {
    const bool refused = access(guard, F_OK) != 0 && errno == EFAULT;
    known.store(refused ? yes : no, std::memory_order_relaxed);
  }
  return known.load(std::memory_order_relaxed) == yes;
}

}  // namespace

size_t AlternateStack::room() noexcept { return usable_size() + kGuardSize; }

AlternateStack::AlternateStack(uintptr_t stack_end) noexcept : stack_end_(stack_end) {
  const base::KeepErrno keep;
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  if (!use_own_stack()) map_apart();
}

bool AlternateStack::install(void* lowest, size_t size) noexcept {
  stack_t ours{};
  ours.ss_sp = lowest;
  ours.ss_size = size;
  if (sigaltstack(&ours, nullptr) != 0) return false;
  lowest_ = static_cast<char*>(lowest);
  return true;
}

// The thread's own guard, the handlers' stack, a guard, the thread's stack.
bool AlternateStack::use_own_stack() noexcept {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  if (stack_end_ == 0 || stack_end_ % page != 0) return false;
  auto* lowest = reinterpret_cast<char*>(stack_end_);
  char* guard = lowest + usable_size();
  if (madvise(guard, kGuardSize, kInstallGuard) != 0) return false;
  if (!faults(guard) || !install(lowest, usable_size())) {
    madvise(guard, kGuardSize, kRemoveGuard);
    return false;
  }
  stack_end_ += room();
  return true;
}

void AlternateStack::map_apart() noexcept {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* mapping = mmap(nullptr, room(), PROT_NONE, kFlags, -1, 0);
  if (mapping == MAP_FAILED) return;
  char* lowest = static_cast<char*>(mapping) + kGuardSize;
  is_apart_ = mprotect(lowest, usable_size(), PROT_READ | PROT_WRITE) == 0 && install(lowest, usable_size());
  if (!is_apart_) munmap(mapping, room());
}

// The program may have put its own in place of it.
bool AlternateStack::is_installed() const noexcept {
  stack_t now{};
  return sigaltstack(nullptr, &now) == 0 && now.ss_sp == lowest_;
}

AlternateStack::~AlternateStack() {
  if (lowest_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  if (is_installed() && sigaltstack(&none, nullptr) != 0) return;
  if (is_apart_) {
    munmap(lowest_ - kGuardSize, room());
  } else {
    // The C library keeps the stack for another thread.
    madvise(lowest_ + usable_size(), kGuardSize, kRemoveGuard);
  }
}

}  // namespace weft::core
