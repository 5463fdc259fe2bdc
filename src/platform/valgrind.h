// SPDX-License-Identifier: Apache-2.0
// Whether valgrind runs this process: the request that its tools answer (RUNNING_ON_VALGRIND of its manual), which does
// nothing on a processor. It is written out here since the header that has it need not be installed.
#pragma once

#include <cstdint>

namespace weft::platform {

inline bool on_valgrind() noexcept {
  const uint64_t request[6] = {0x1001};
  uint64_t answer = 0;
#if defined(__x86_64__)
  __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                   : "+d"(answer)
                   : "a"(request)
                   : "cc", "memory", "rdi");
#elif defined(__aarch64__)
  register uint64_t x3 __asm__("x3") = answer;
  register const uint64_t* x4 __asm__("x4") = request;
  __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61; orr x10, x10, x10"
                   : "+r"(x3)
                   : "r"(x4)
                   : "cc", "memory", "x12");
  answer = x3;
#endif
  return answer != 0;
}

}  // namespace weft::platform
