// SPDX-License-Identifier: Apache-2.0
// Deadlines as programs give them: points in time of CLOCK_MONOTONIC.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "shm/error.h"
#include "shm/sync/wait.h"

namespace weft::shm {

// Writes the time to `*ns` and returns 0; or EINVAL where it is no valid time. A time long past becomes 1, so that 0
// can mean something else.
inline int to_deadline(const timespec* time, const char* name, int64_t* ns) noexcept {
  if (time == nullptr || time->tv_nsec < 0 || time->tv_nsec >= kSecondNs) {
    return fail(EINVAL, "%s: that is no time: tv_nsec must be from 0 to 999999999", name);
  }
  if (time->tv_sec < 0) {
    *ns = 1;
  } else if (time->tv_sec >= kForever / kSecondNs - 1) {
    *ns = kForever;
  } else {
    *ns = time->tv_sec * kSecondNs + time->tv_nsec + 1;
  }
  return 0;
}

}  // namespace weft::shm
