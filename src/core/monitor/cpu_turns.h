// SPDX-License-Identifier: Apache-2.0
// Shorter turns on CPUs that several OS threads of a gang share. Such threads poll for each other, and the kernel
// leaves each of them on the CPU for a whole time slice, though the one that it polls for waits behind it: with two
// threads a CPU, a barrier of the members takes 4 ms and more. A thread that wakes on the CPU makes the kernel choose
// anew. So while threads are lent to gangs, a thread for each CPU that they share wakes every 100 us. Internal to core.
#pragma once

#include <cstdint>

#include "platform/cpu_set.h"

namespace weft::core {

struct Pool;

class CpuTurns {
 public:
  // Called by the monitor at each of its ticks.
  void tick(const Pool& p) noexcept;

 private:
  bool gangs_are_crowded(const Pool& p) noexcept;

  uint64_t regions_lent_before_ = 0;
  int64_t next_try_ns_ = 0;  // the system has refused a thread
  // The CPUs on which a carrier has been seen at this tick, and those with more than one.
  platform::CpuSet used_;
  platform::CpuSet shared_;
};

// After a fork, in the child: the threads are the parent's.
void forget_cpu_turns() noexcept;

}  // namespace weft::core
