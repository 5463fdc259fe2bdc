// SPDX-License-Identifier: Apache-2.0
// Functions that may stand in the middle of somebody else's code, whose compiler knows of no call there: they keep all
// registers, those of vectors too.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// What xsave needs, in bytes; 0: keeps_registers() has not been asked, or it is not possible. Written by the thread
// that starts the runtime.
extern "C" uint64_t weft_vector_state_size;

namespace weft::platform {

// Whether the system lets programs save the registers of vectors, before any such function is called.
inline bool keeps_registers() noexcept {
#if defined(__x86_64__)
  // CPUID.1:ECX.OSXSAVE: programs may use it; CPUID.0DH.0:EBX: the size for what the system has enabled.
  constexpr unsigned kUsable = 1u << 27;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kUsable) == 0) return false;
  if (__get_cpuid_count(0xd, 0, &a, &b, &c, &d) == 0) return false;
  weft_vector_state_size = b;
  return true;
#else
  return false;
#endif
}

}  // namespace weft::platform

#if defined(__x86_64__)
// Defines `name`, which calls `wanted`, a function that touches no register of vectors (general-regs-only) and says
// whether `run` is called. All three are names of C functions without arguments.
#define WEFT_KEEPS_REGISTERS(name, wanted, run)    \
  asm("  .text\n"                                  \
      "  .hidden " #name                           \
      "\n"                                         \
      "  .hidden " #wanted                         \
      "\n"                                         \
      "  .hidden " #run                            \
      "\n"                                         \
      "  .hidden weft_vector_state_size\n"         \
      "  .type " #name ", @function\n" #name       \
      ":\n"                                        \
      "  push %rbp\n"                              \
      "  mov %rsp, %rbp\n"                         \
      "  push %rax\n"                              \
      "  push %rcx\n"                              \
      "  push %rdx\n"                              \
      "  push %rsi\n"                              \
      "  push %rdi\n"                              \
      "  push %r8\n"                               \
      "  push %r9\n"                               \
      "  push %r10\n"                              \
      "  push %r11\n"                              \
      "  and $-64, %rsp\n"                         \
      "  call " #wanted                            \
      "\n"                                         \
      "  test %al, %al\n"                          \
      "  je 1f\n"                                  \
      "  sub weft_vector_state_size(%rip), %rsp\n" \
      "  and $-64, %rsp\n"                         \
      "  lea 512(%rsp), %rdi\n"                    \
      "  xor %eax, %eax\n"                         \
      "  mov $8, %ecx\n"                           \
      "  rep stosq\n"                              \
      "  mov $0xe7, %eax\n"                        \
      "  xor %edx, %edx\n"                         \
      "  xsave64 (%rsp)\n"                         \
      "  call " #run                               \
      "\n"                                         \
      "  mov $0xe7, %eax\n"                        \
      "  xor %edx, %edx\n"                         \
      "  xrstor64 (%rsp)\n"                        \
      "1:\n"                                       \
      "  lea -72(%rbp), %rsp\n"                    \
      "  pop %r11\n"                               \
      "  pop %r10\n"                               \
      "  pop %r9\n"                                \
      "  pop %r8\n"                                \
      "  pop %rdi\n"                               \
      "  pop %rsi\n"                               \
      "  pop %rdx\n"                               \
      "  pop %rcx\n"                               \
      "  pop %rax\n"                               \
      "  pop %rbp\n"                               \
      "  ret\n"                                    \
      "  .size " #name ", .-" #name "\n")
#endif
