// SPDX-License-Identifier: Apache-2.0
// futex(2) past the C library. A header of its own, since tests/scale has another in its place.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include <sys/syscall.h>

namespace weft::platform {

namespace detail {

inline long futex(const std::atomic<uint32_t>& word, long operation, long value,
                  const timespec* limit = nullptr) noexcept {
#if defined(__x86_64__)
  long result;
  register long timeout asm("r10") = reinterpret_cast<long>(limit);
  asm volatile("syscall"
               : "=a"(result)
               : "0"(static_cast<long>(SYS_futex)), "D"(&word), "S"(operation), "d"(value), "r"(timeout)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long number asm("x8") = SYS_futex;
  register long result asm("x0") = reinterpret_cast<long>(&word);
  register long op asm("x1") = operation;
  register long val asm("x2") = value;
  register long timeout asm("x3") = reinterpret_cast<long>(limit);
  asm volatile("svc 0" : "+r"(result) : "r"(number), "r"(op), "r"(val), "r"(timeout) : "memory");
  return result;
#else
#error "weft supports x86-64 and AArch64"
#endif
}

}  // namespace detail

}  // namespace weft::platform
