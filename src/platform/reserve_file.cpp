// SPDX-License-Identifier: Apache-2.0
#include "platform/reserve_file.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

namespace weft::platform {

namespace {

// A part takes some milliseconds. What cannot be blocked, as the C library's own signals, does not come that often.
constexpr uint64_t kPart = uint64_t{16} << 20;
constexpr int kTries = 100;

class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    blocked_ = pthread_sigmask(SIG_SETMASK, &all, &before_) == 0;
  }
  ~BlockedSignals() {
    if (blocked_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
  bool blocked_ = false;
};

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
