// SPDX-License-Identifier: Apache-2.0
#include "platform/bare_thread.h"

#include <pthread.h>
#include <sched.h>

#include "platform/futex.h"
#include "platform/system_call.h"

namespace weft::platform {

namespace {

// As pthread_create() asks for it. The kernel clears the number and wakes its sleepers when the thread has gone.
constexpr unsigned long kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;

}  // namespace

// The new thread goes on behind the system call, with the registers of the caller and another stack.
__attribute__((no_sanitize("address", "undefined", "thread"))) bool start_bare_thread(
    uintptr_t stack_top, uintptr_t thread_pointer, void (*run)(void*), void* argument,
    std::atomic<uint32_t>& number) noexcept {
#if defined(__x86_64__)
  long result;
  register std::atomic<uint32_t>* cleared asm("r10") = &number;
  register uintptr_t identity asm("r8") = thread_pointer;
  register void (*what)(void*) asm("r12") = run;
  register void* with asm("r13") = argument;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "ud2\n"
      "1:"
      : "=a"(result)
      : "0"(static_cast<long>(SYS_clone)), "D"(kFlags), "S"(stack_top), "d"(&number), "r"(cleared), "r"(identity),
        "r"(what), "r"(with)
      : "rcx", "r11", "memory", "cc");
#elif defined(__aarch64__)
  register long name asm("x8") = SYS_clone;
  register unsigned long flags asm("x0") = kFlags;
  register uintptr_t stack asm("x1") = stack_top;
  register std::atomic<uint32_t>* set asm("x2") = &number;
  register uintptr_t identity asm("x3") = thread_pointer;
  register std::atomic<uint32_t>* cleared asm("x4") = &number;
  register void (*what)(void*) asm("x19") = run;
  register void* with asm("x20") = argument;
  asm volatile(
      "svc 0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x30, xzr\n\t"
      "mov x0, x20\n\t"
      "blr x19\n\t"
      "brk 0\n"
      "1:"
      : "+r"(flags)
      : "r"(name), "r"(stack), "r"(set), "r"(identity), "r"(cleared), "r"(what), "r"(with)
      : "memory", "cc");
  const auto result = static_cast<long>(flags);
#endif
  return result > 0;
}

void await_bare_thread(const std::atomic<uint32_t>& number) noexcept {
  // The kernel's wake-up may be lost to who has just looked: it is one for a word of several processes.
  constexpr int64_t kLookNs = 10'000'000;
  while (const uint32_t now = number.load(std::memory_order_acquire)) futex_wait_shared(number, now, kLookNs);
}

__attribute__((no_sanitize("address", "undefined", "thread"))) void end_bare_thread() noexcept {
  for (;;) system_call(SYS_exit, 0);
}

void become_bare_thread(std::atomic<uint32_t>& number) noexcept {
  // Before the address is told: afterwards the kernel may write.
  number.store(static_cast<uint32_t>(system_call(SYS_gettid)), std::memory_order_release);
  system_call(SYS_set_tid_address, &number);
  // The kernel does not go through libc's list of mutexes, which is the identity's, when this thread ends.
  constexpr size_t kSizeOfHead = 3 * sizeof(void*);
  system_call(SYS_set_robust_list, nullptr, kSizeOfHead);
}

__attribute__((no_sanitize("address", "undefined", "thread"))) uint32_t* number_in_record() noexcept {
  // glibc 2.28 to 2.42 have it within the first 800 bytes.
  constexpr uintptr_t kFarthest = 1024;
  const auto wanted = static_cast<uint32_t>(system_call(SYS_gettid));
  uint32_t* found = nullptr;
  for (uintptr_t at = pthread_self(); at < pthread_self() + kFarthest; at += sizeof(uint32_t)) {
    auto* word = reinterpret_cast<uint32_t*>(at);
    if (*word != wanted) continue;
    if (found != nullptr) return nullptr;
    found = word;
  }
  return found;
}

void become_libc_thread(uint32_t* number) noexcept {
  std::atomic_ref(*number).store(static_cast<uint32_t>(system_call(SYS_gettid)), std::memory_order_release);
  system_call(SYS_set_tid_address, number);
}

}  // namespace weft::platform
