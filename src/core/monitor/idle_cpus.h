// SPDX-License-Identifier: Apache-2.0
// The monitor's part of core/monitor/cpu_load.h. Internal to core.
#pragma once

#include <cstdint>

namespace weft::core {

struct Pool;

class IdleCpus {
 public:
  // Called by the monitor at each of its ticks.
  void tick(const Pool& p) noexcept;

 private:
  static constexpr int kTicks = 2;  // that CPUs have to be idle
  static constexpr int kPause = 4;  // after a look at all threads has found them busy: it costs some 10 us a thread

  int64_t time_before_ = 0;  // 0: nobody has asked
  int64_t used_before_ = 0;
  double busy_ = 0;  // CPUs in use, the most of the last ticks
  int ticks_ = 0;
  int pause_ = 0;
};

// Whether anybody wants to know.
bool idle_cpus_watched() noexcept;

}  // namespace weft::core
