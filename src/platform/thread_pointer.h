// SPDX-License-Identifier: Apache-2.0
// The thread pointer: the register through which a thread reaches its TLS block, and with it its
// pthread_self, errno, C++ exception state and thread_local objects.
#pragma once

#include <cstdint>

namespace weft::platform {

// How the thread pointer is written on this machine.
enum class ThreadPointerMethod {
  instruction,  // one user-mode instruction (wrfsbase, or msr tpidr_el0)
  system_call,  // arch_prctl: x86-64 without FSGSBASE, some 20 times slower
};

// Thread-safe; the answer never changes during a process's life.
ThreadPointerMethod thread_pointer_method() noexcept;

// The calling thread's thread pointer, now: compilers take that of __builtin_thread_pointer() for a constant, which
// they may read once more behind a change.
inline uintptr_t thread_pointer() noexcept {
  uintptr_t value;
#if defined(__x86_64__)
  asm volatile("movq %%fs:0, %0"
               : "=r"(value)
               :
               : "memory");  // the ABI has it there too, for code that cannot read the register
#elif defined(__aarch64__)
  asm volatile("mrs %0, tpidr_el0" : "=r"(value) : : "memory");
#endif
  return value;
}

// From the return on, the caller has the identity of the thread whose pointer `value` is. The caller
// must not be using any thread_local object of its own across the call, and nobody else may be
// running under that identity.
void set_thread_pointer(uintptr_t value) noexcept;

}  // namespace weft::platform
