// SPDX-License-Identifier: Apache-2.0
// Identities outlive the roots for whose regions they were made, so that other roots find them. But a program may wait
// until the thread-local objects that it has left in them have ended. So the identities end when a root has ended and
// no region has begun for a while after that. The monitor does that. Internal to core.
#pragma once

#include <cstdint>

namespace weft::core {

struct Pool;

class RootEnds {
 public:
  // Called at each of the monitor's ticks.
  void tick(Pool& p) noexcept;

  // Whether there must be another tick.
  bool need_ticks(const Pool& p) const noexcept;

 private:
  // So long no region must have begun: a program that starts a thread for each region, one after the other, keeps its
  // identities.
  static constexpr int64_t kQuietNs = 150'000'000;

  static constexpr int kWokenAtOnce = 8;

  void wake_workers(const Pool& p) noexcept;

  uint32_t served_ = 0;  // how many roots had ended when identities ended last
  bool waits_ = false;  // it waits for kQuietNs; another root that ends does not make that longer
  uint32_t regions_seen_ = 0;  // the regions of all roots: another number says that roots have been at work
  int64_t quiet_since_ = 0;
  int to_wake_ = 0;  // workers with numbers below this are to do their part, and may have to be woken
};

}  // namespace weft::core
