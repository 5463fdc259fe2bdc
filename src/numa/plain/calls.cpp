// SPDX-License-Identifier: Apache-2.0
// The two functions by which a program gives up system calls (seccomp). The collector must know of it: a system call
// that it made afterwards would end the program. Nothing else about these calls is changed.
#include "numa/plain/calls.h"

#include <sys/syscall.h>

#include "numa/collector/filters.h"
#include "numa/collector/real.h"

// Not their headers: each function is defined here with as many whole words as it may have arguments. Where fewer are
// passed, the rest is whatever stands there.

namespace weft::numa {

namespace {

constinit Real<long(long, long, long, long, long)> g_prctl{"prctl"};
constinit Real<long(long, long, long, long, long, long, long)> g_syscall{"syscall"};

}  // namespace

void look_up_calls() noexcept {
  g_prctl.get();
  g_syscall.get();
}

}  // namespace weft::numa

using namespace weft::numa;

extern "C" {

[[gnu::visibility("default")]] long weft_call_prctl(long, long, long, long, long) asm("prctl");
long weft_call_prctl(long option, long b, long c, long d, long e) {
  before_filter(SYS_prctl, static_cast<int>(option), b, c);
  return g_prctl.get()(option, b, c, d, e);
}

[[gnu::visibility("default")]] long weft_call_syscall(long, long, long, long, long, long, long) asm("syscall");
long weft_call_syscall(long number, long a, long b, long c, long d, long e, long f) {
  before_filter(number, a, b, c);
  return g_syscall.get()(number, a, b, c, d, e, f);
}

}  // extern "C"
