// SPDX-License-Identifier: Apache-2.0
// In the place of src/platform/service_call.h: calls by the futexes of the machine of tests/machine. Nobody calls from
// outside.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include <sys/types.h>

#include "platform/futex.h"

namespace weft::platform {

class ServiceCall {
 public:
  void begin(bool /*wanted*/) noexcept {}
  void forget() noexcept {}

  void call() noexcept {
    called_.store(1);
    futex_wake(called_, 1);
  }

  pid_t await(int64_t ns) noexcept {
    if (ns < 0) {
      futex_wait(called_, 0);
      called_.store(0);
    } else {
      const timespec time{0, static_cast<long>(ns)};
      nanosleep(&time, nullptr);
    }
    return 0;
  }

 private:
  std::atomic<uint32_t> called_{0};
};

}  // namespace weft::platform
