// SPDX-License-Identifier: Apache-2.0
// System calls past the C library: they leave errno alone, need no thread-local data, and nobody interposes them.
#pragma once

#include <cstdint>

#include <sys/syscall.h>

namespace weft::platform {

namespace detail {

inline long raw_call(long number, long a, long b, long c, long d, long e, long f) noexcept {
#if defined(__x86_64__)
  long result;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long name asm("x8") = number;
  register long result asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  register long sixth asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(result)
               : "r"(name), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
               : "memory");
  return result;
#else
#error "weft supports x86-64 and AArch64"
#endif
}

inline long word_of(const void* pointer) noexcept { return reinterpret_cast<long>(pointer); }
inline long word_of(unsigned long number) noexcept { return static_cast<long>(number); }
inline long word_of(long number) noexcept { return number; }
inline long word_of(int number) noexcept { return number; }
inline long word_of(unsigned number) noexcept { return number; }

}  // namespace detail

// What the kernel returns: a negative value is that of an errno.
template <class... Arguments>
long system_call(long number, Arguments... arguments) noexcept {
  static_assert(sizeof...(arguments) <= 6);
  const long words[] = {detail::word_of(arguments)..., 0, 0, 0, 0, 0, 0};
  return detail::raw_call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // namespace weft::platform
