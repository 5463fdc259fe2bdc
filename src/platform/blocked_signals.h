// SPDX-License-Identifier: Apache-2.0
// The caller gets no signals as long as an object of this class lives.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace weft::platform {

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

}  // namespace weft::platform
