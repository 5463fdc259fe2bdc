// SPDX-License-Identifier: Apache-2.0
#include "numa/collector/leave.h"

#include <cstdarg>

#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "numa/collector/collector.h"
#include "numa/collector/guard.h"
#include "numa/collector/real.h"
#include "numa/collector/sampler.h"

namespace weft::numa {

namespace {

constinit Real<int(int, long, long, long, long)> g_prctl{"prctl"};
constinit Real<int(int)> g_unshare{"unshare"};
constinit Real<int(int, int)> g_setns{"setns"};

// A program may ask with a null whether there are filters.
bool sets_filter(long mode, long filter) noexcept {
  return mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter != 0);
}
static_assert(SECCOMP_SET_MODE_STRICT + 1 == SECCOMP_MODE_STRICT && SECCOMP_SET_MODE_FILTER + 1 == SECCOMP_MODE_FILTER);

// These the kernel does for a process with several threads; others it refuses.
constexpr long kUnshareWithThreads =
    CLONE_FILES | CLONE_FS | CLONE_SYSVSEM | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWCGROUP;
constexpr long kJoinWithThreads = CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWCGROUP;

}  // namespace

void before_leaving(long call, long a, long b, long c) noexcept {
  switch (call) {
    case SYS_seccomp:
      // Other operations ask for something.
      if (a <= SECCOMP_SET_MODE_FILTER && sets_filter(a + 1, c)) seal();
      break;
    case SYS_prctl:
      if (a == PR_SET_SECCOMP && sets_filter(b, c)) seal();
      break;
    case SYS_unshare:
      if ((a & ~kUnshareWithThreads) != 0) stop_sampler(Stop::namespaces);
      break;
    case SYS_setns:
      if (b == 0 || (b & ~kJoinWithThreads) != 0) stop_sampler(Stop::namespaces);
      break;
    default: break;
  }
}

}  // namespace weft::numa

using namespace weft::numa;

extern "C" {

[[gnu::visibility("default")]] int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  const long b = va_arg(list, long);
  const long c = va_arg(list, long);
  const long d = va_arg(list, long);
  const long e = va_arg(list, long);
  va_end(list);
  before_leaving(SYS_prctl, option, b, c);
  constexpr uintptr_t kPage = 4096;
  const Hold of_second(static_cast<uintptr_t>(b), kPage);
  const Hold of_third(static_cast<uintptr_t>(c), kPage);
  return g_prctl.get()(option, b, c, d, e);
}

[[gnu::visibility("default")]] int unshare(int flags) noexcept {
  before_leaving(SYS_unshare, flags, 0, 0);
  return g_unshare.get()(flags);
}

[[gnu::visibility("default")]] int setns(int file, int kind) noexcept {
  before_leaving(SYS_setns, file, kind, 0);
  return g_setns.get()(file, kind);
}

}  // extern "C"
