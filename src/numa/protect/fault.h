// SPDX-License-Identifier: Apache-2.0
// What a handler of faults is told, by CPU.
#pragma once

#include <cstdint>

#include <signal.h>
#include <ucontext.h>

#include "numa/record/layout.h"

namespace weft::numa {

inline Access access_of(const void* context) noexcept {
  const auto* of_thread = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;
  return (of_thread->uc_mcontext.gregs[REG_ERR] & kWrite) != 0 ? Access::write : Access::read;
#elif defined(__aarch64__)
  // Records behind the registers, each with its size, up to one of size 0.
  constexpr uint64_t kWrite = 1U << 6;
  const auto* at = reinterpret_cast<const unsigned char*>(of_thread->uc_mcontext.__reserved);
  const unsigned char* const end = at + sizeof of_thread->uc_mcontext.__reserved;
  while (at + sizeof(_aarch64_ctx) <= end) {
    const auto* head = reinterpret_cast<const _aarch64_ctx*>(at);
    if (head->size == 0) break;
    if (head->magic == ESR_MAGIC) {
      const uint64_t syndrome = reinterpret_cast<const esr_context*>(at)->esr;
      return (syndrome & kWrite) != 0 ? Access::write : Access::read;
    }
    at += head->size;
  }
  return Access::unknown;
#else
#error "weft supports x86-64 and AArch64"
#endif
}

// The instruction.
inline uintptr_t code_of(const void* context) noexcept {
  const auto* of_thread = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<uintptr_t>(of_thread->uc_mcontext.gregs[REG_RIP]);
#else
  return of_thread->uc_mcontext.pc;
#endif
}

// Where the stack that it has interrupted ends.
inline uintptr_t stack_of(const void* context) noexcept {
  const auto* of_thread = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<uintptr_t>(of_thread->uc_mcontext.gregs[REG_RSP]);
#else
  return of_thread->uc_mcontext.sp;
#endif
}

}  // namespace weft::numa
