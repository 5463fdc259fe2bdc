// SPDX-License-Identifier: Apache-2.0
#include "platform/thread_pointer.h"

#if defined(__x86_64__)
#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#endif

namespace weft::platform {

#if defined(__x86_64__)

namespace {

// Bit 1 of AT_HWCAP2: the kernel lets user mode write FS and GS (Linux 5.9 and later).
constexpr unsigned long kHwcap2Fsgsbase = 1ul << 1;

const bool g_fsgsbase = (getauxval(AT_HWCAP2) & kHwcap2Fsgsbase) != 0;

}  // namespace

ThreadPointerMethod thread_pointer_method() noexcept {
  return g_fsgsbase ? ThreadPointerMethod::instruction : ThreadPointerMethod::system_call;
}

// No sanitizer instrumentation and no libc: between the write and the switch of stacks that follows it
// the thread-local state belongs to another context. In particular syscall(3) would set that one's errno.
__attribute__((no_sanitize("address", "undefined", "thread"))) void set_thread_pointer(uintptr_t value) noexcept {
  if (g_fsgsbase) {
    asm volatile("wrfsbase %0" : : "r"(value) : "memory");
    return;
  }
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(static_cast<long>(SYS_arch_prctl)), "D"(static_cast<long>(ARCH_SET_FS)), "S"(value)
               : "rcx", "r11", "memory");
}

#elif defined(__aarch64__)

ThreadPointerMethod thread_pointer_method() noexcept { return ThreadPointerMethod::instruction; }

void set_thread_pointer(uintptr_t value) noexcept { asm volatile("msr tpidr_el0, %0" : : "r"(value) : "memory"); }

#else
#error "weft supports x86-64 and AArch64"
#endif

}  // namespace weft::platform
