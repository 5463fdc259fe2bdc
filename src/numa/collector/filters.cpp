// SPDX-License-Identifier: Apache-2.0
#include "numa/collector/filters.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "numa/collector/collector.h"

namespace weft::numa {

namespace {

// A program may ask with a null whether there are filters.
bool sets_filter(long mode, long filter) noexcept {
  return mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter != 0);
}
static_assert(SECCOMP_SET_MODE_STRICT + 1 == SECCOMP_MODE_STRICT && SECCOMP_SET_MODE_FILTER + 1 == SECCOMP_MODE_FILTER);

}  // namespace

void before_filter(long call, long a, long b, long c) noexcept {
  // Other operations of seccomp() ask for something.
  const bool by_seccomp = call == SYS_seccomp && a <= SECCOMP_SET_MODE_FILTER && sets_filter(a + 1, c);
  const bool by_prctl = call == SYS_prctl && a == PR_SET_SECCOMP && sets_filter(b, c);
  if (by_seccomp || by_prctl) seal();
}

}  // namespace weft::numa
