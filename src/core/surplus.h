// SPDX-License-Identifier: Apache-2.0
// Contexts that nobody has needed for a while: the threads that donate them end. By the monitor.
#pragma once

#include <cstdint>

#include "core/free_contexts.h"

namespace weft::core {

struct Pool;

class Surplus {
 public:
  // How often it looks. Each time half of those that have been on a shelf all the time go: a program that needs many in
  // turns of some seconds makes few anew, and one that needs them no more is rid of them soon.
  static constexpr int64_t kPeriodNs = 1'000'000'000;

  void tick(Pool& pool) noexcept;

  // Whether there is something for another look.
  bool any(const Pool& pool) const noexcept;

 private:
  void take_out(Pool& pool) noexcept;
  void reap(Pool& pool) noexcept;

  int64_t last_look_ = 0;
  ContextQueue ending_;  // until their threads have ended
};

}  // namespace weft::core
