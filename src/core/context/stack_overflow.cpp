// SPDX-License-Identifier: Apache-2.0
#include "core/context/stack_overflow.h"

#include <algorithm>

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
        "set OMP_STACKSIZE to more (OMP_STACKSIZE=%zuM); that of the initial thread is what ulimit -s says",
        g_stack_size >> 10, std::max<size_t>(1, g_stack_size >> 19));
  }
  // It ends the program the usual way.
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  platform::raise_again(signal, fault, usual);
}

}  // namespace

StackBounds stack_of(pthread_t thread) noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(thread, &attributes) != 0) return {};
  void* lowest = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return {reinterpret_cast<uintptr_t>(lowest), size};
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

size_t size_that_suits() noexcept {
  return std::max(AlternateStack::kSize, static_cast<size_t>(std::max(0L, sysconf(_SC_SIGSTKSZ))));
}

}  // namespace

bool AlternateStack::is_large_enough() noexcept { return size_that_suits() == kSize; }

AlternateStack::AlternateStack(char* prepared) noexcept {
  const base::KeepErrno keep;
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  if (prepared == nullptr) {
    map_apart();
  } else {
    install(prepared, kSize);
  }
}

bool AlternateStack::install(char* lowest, size_t size) noexcept {
  stack_t ours{};
  ours.ss_sp = lowest;
  ours.ss_size = size;
  if (sigaltstack(&ours, nullptr) != 0) return false;
  lowest_ = lowest;
  size_ = size;
  return true;
}

void AlternateStack::map_apart() noexcept {
  const size_t usable = size_that_suits();
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* mapping = mmap(nullptr, kGuardSize + usable, PROT_NONE, kFlags, -1, 0);
  if (mapping == MAP_FAILED) return;
  char* const lowest = static_cast<char*>(mapping) + kGuardSize;
  apart_ = mprotect(lowest, usable, PROT_READ | PROT_WRITE) == 0 && install(lowest, usable);
  if (!apart_) munmap(mapping, kGuardSize + usable);
}

AlternateStack::~AlternateStack() {
  stack_t now{};
  // The program may have put its own in place of it.
  if (lowest_ == nullptr || sigaltstack(nullptr, &now) != 0) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  if (now.ss_sp == lowest_ && sigaltstack(&none, nullptr) != 0) return;
  if (apart_) {
    munmap(lowest_ - kGuardSize, kGuardSize + size_);
  } else {
    madvise(lowest_, size_, MADV_DONTNEED);
  }
}

}  // namespace weft::core
