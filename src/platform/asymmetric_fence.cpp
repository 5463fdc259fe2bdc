// SPDX-License-Identifier: Apache-2.0
#include "platform/asymmetric_fence.h"

#include <cerrno>
#include <ctime>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/system_call.h"

namespace weft::platform {

constinit std::atomic<bool> detail::g_light_is_full{true};

namespace {

bool membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

bool register_process() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }

}  // namespace

void lighten_fences() noexcept {
  const int saved = errno;
  if (register_process()) detail::g_light_is_full.store(false, std::memory_order_relaxed);
  errno = saved;
}

bool heavy_fence() noexcept {
  full_fence();
  if (detail::g_light_is_full.load(std::memory_order_relaxed)) return true;
  const int saved = errno;
  // A kernel may forget at a fork that the process is registered.
  const bool done = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
                    (errno == EPERM && register_process() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
  errno = saved;
  return done;
}

void fence_other_threads() noexcept {
  const auto call = [](int command) { return system_call(SYS_membarrier, command, 0, 0); };
  full_fence();
  long result = call(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  if (result == -EPERM && call(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0) {
    result = call(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  }
  if (result == 0) return;
  // What a thread that runs has stored is seen by others long before that; one that has lost its CPU has passed a
  // fence.
  constexpr timespec kLong{0, 200'000};
  system_call(SYS_nanosleep, &kLong, nullptr);
  full_fence();
}

}  // namespace weft::platform
