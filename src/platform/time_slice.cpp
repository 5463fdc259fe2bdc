// SPDX-License-Identifier: Apache-2.0
#include "platform/time_slice.h"

#include <cerrno>
#include <cstdint>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::platform {

namespace {

// The kernel's first version of it (sched_setattr(2)): glibc has none, and the kernel's header clashes with <sched.h>.
struct SchedulingAttributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime_ns;
  uint64_t deadline_ns;
  uint64_t period_ns;
};
static_assert(sizeof(SchedulingAttributes) == 48);

constexpr uint64_t kShortestNs = 100'000;

}  // namespace

void ask_for_short_time_slices() noexcept {
  const int error = errno;
  SchedulingAttributes now{};
  if (syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) == 0 && now.policy == SCHED_OTHER) {
    now.runtime_ns = kShortestNs;
    syscall(SYS_sched_setattr, 0, &now, 0);
  }
  errno = error;
}

void ask_for_exact_timers() noexcept {
  const int error = errno;
  prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
  errno = error;
}

}  // namespace weft::platform
