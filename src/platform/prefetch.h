// SPDX-License-Identifier: Apache-2.0
// Asks for a cache line before it is needed.
#pragma once

namespace weft::platform {

// To write it: other CPUs lose it. Compilers know the instruction only where they are told of a CPU that has it; all
// others of x86-64 take it for one that does nothing.
inline void prefetch_to_write(const void* line) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace weft::platform
