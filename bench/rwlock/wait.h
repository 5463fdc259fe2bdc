// SPDX-License-Identifier: Apache-2.0
// How the peers' locks wait in place. They yield soon: their papers give each process a CPU of its own, and without
// that a lock that only spins measures the scheduler's time slices.
#pragma once

#include <sched.h>

#include "platform/cycles.h"

namespace bench {

class Spin {
 public:
  void once() {
    if (++turns_ < kTurns)
      weft::platform::pause();
    else
      sched_yield();
  }

 private:
  static constexpr int kTurns = 200;
  int turns_ = 0;
};

}  // namespace bench
