// SPDX-License-Identifier: Apache-2.0
// The monitor's part of core/monitor/cpu_load.h: whether others take CPUs from this process while its gangs run, whose
// members spin on each other. Internal to core.
#pragma once

#include <array>
#include <cstdint>

#include <sys/types.h>

#include "platform/thread_state.h"

namespace weft::core {

struct Pool;

class CpuContention {
 public:
  // Called by the monitor at each of its ticks.
  void tick(const Pool& p) noexcept;

 private:
  static constexpr int kTicks = 2;  // between looks
  static constexpr size_t kMostThreads = 32;  // so many threads are looked at, since each costs microseconds

  struct Seen {
    pid_t thread = 0;
    platform::RunTimes times;
  };

  // The times that carriers have run and waited since the last look.
  platform::RunTimes look_at_threads(const Pool& p) noexcept;

  int ticks_ = 0;
  uint32_t gangs_before_ = 0;
  bool looked_before_ = false;
  int64_t time_before_ = 0;
  int64_t used_before_ = 0;
  std::array<Seen, kMostThreads> seen_{};
};

}  // namespace weft::core
