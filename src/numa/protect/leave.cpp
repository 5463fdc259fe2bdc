// SPDX-License-Identifier: Apache-2.0
#include "numa/protect/leave.h"

#include <cstdarg>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "numa/collector/filters.h"
#include "numa/collector/real.h"
#include "numa/protect/guard.h"
#include "numa/protect/sampler.h"

namespace weft::numa {

namespace {

constinit Real<int(int, long, long, long, long)> g_prctl{"prctl"};
constinit Real<int(int)> g_unshare{"unshare"};
constinit Real<int(int, int)> g_setns{"setns"};

// These the kernel does for a process with several threads; others it refuses.
constexpr long kUnshareWithThreads =
    CLONE_FILES | CLONE_FS | CLONE_SYSVSEM | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWCGROUP;
constexpr long kJoinWithThreads = CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWCGROUP;

}  // namespace

void before_leaving(long call, long a, long b, long c) noexcept {
  before_filter(call, a, b, c);
  const bool unshares = call == SYS_unshare && (a & ~kUnshareWithThreads) != 0;
  const bool joins = call == SYS_setns && (b == 0 || (b & ~kJoinWithThreads) != 0);
  if (unshares || joins) stop_sampler(Stop::namespaces);
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
