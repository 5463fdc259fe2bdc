// SPDX-License-Identifier: Apache-2.0
#include "platform/reserve_file.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>

#include "platform/blocked_signals.h"

namespace weft::platform {

namespace {

// A part takes some milliseconds. What cannot be blocked, as the C library's own signals, does not come that often.
constexpr uint64_t kPart = uint64_t{16} << 20;
constexpr int kTries = 100;

}  // namespace

int reserve_file(int file, uint64_t from, uint64_t to) noexcept {
  const BlockedSignals blocked;
  while (from < to) {
    const uint64_t bytes = std::min(kPart, to - from);
    int error = EINTR;
    for (int i = 0; i < kTries && error == EINTR; ++i) {
      error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
    }
    if (error != 0) return error;
    from += bytes;
  }
  return 0;
}

}  // namespace weft::platform
