// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/process_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "platform/fence.h"

namespace weft::shm {

namespace {

long membarrier(int command) noexcept {
  const base::KeepErrno keep;
  return syscall(SYS_membarrier, command, 0, 0);
}

}  // namespace

bool can_fence_processes() noexcept {
  constexpr long kBoth = MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
  const long commands = membarrier(MEMBARRIER_CMD_QUERY);
  return commands >= 0 && (commands & kBoth) == kBoth && membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
}

bool take_part_in_fences() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0; }

bool fence_processes() noexcept {
  platform::full_fence();  // the call orders the others; the caller's own order must not rest on it
  return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
}

}  // namespace weft::shm
