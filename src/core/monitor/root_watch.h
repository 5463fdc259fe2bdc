// SPDX-License-Identifier: Apache-2.0
// The monitor's part of roots.cpp: a root counts as running, and holds a slot, while it uses a CPU. In a region it
// does; between regions the kernel says whether it does. Internal to core.
#pragma once

#include <cstdint>

#include "core/monitor/by_carrier.h"

namespace weft::core {

struct Pool;
struct Carrier;

// Whether the carrier's thread sleeps in a system call of the program's, and not in one of the runtime's.
bool asleep_in_kernel(const Carrier& carrier) noexcept;

class RootWatch {
 public:
  // Called by the monitor at each of its ticks.
  void tick(Pool& p) noexcept;

  // Whether there must be another tick: slots have been taken away.
  bool need_ticks() const noexcept { return has_released_; }

 private:
  // A root that uses little of a CPU keeps its slot for so many ticks without a region.
  static constexpr int kTicksToRelease = 2;
  // A root whose slot was taken away is looked at for so many ticks more: it may have slept for a moment only.
  static constexpr int kTicksToFollow = 20;
  // So many roots are looked at per tick, since each costs microseconds.
  static constexpr int kLooks = 16;

  struct Seen {
    uint32_t regions = 0;
    int quiet_ticks = 0;
    int follow_ticks = 0;   // how many of kTicksToFollow are left
    bool released = false;  // its slot had been taken away at the last tick
    int64_t time = 0;       // of the last look; 0: there was none
    int64_t wanted_cpu_ns = 0;
  };
  enum class Use { unknown, little, much };

  void look_at_holder(Pool& p, Carrier* root, Seen& before, bool work_waits) noexcept;
  void look_at_released(Pool& p, Carrier* root, Seen& before) noexcept;
  // How much of a CPU the root has used, or waited for, since the last look.
  Use use(const Carrier& root, Seen& before) noexcept;

  ByCarrier<Seen> seen_;
  int looks_left_ = 0;
  int first_ = 0;  // the root that is looked at first
  bool has_released_ = false;
};

}  // namespace weft::core
