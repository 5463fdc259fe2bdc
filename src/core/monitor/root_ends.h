// SPDX-License-Identifier: Apache-2.0
// Identities outlive the threads for whose regions they were made: others are to find them. A program may wait until
// the thread-local objects that it has left in them have ended. So they end when a root has ended and nobody has used
// any since, for a while. By the monitor. Internal to core.
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
  // A program that starts a thread for each region, one after the other, keeps its identities.
  static constexpr int64_t kQuietNs = 150'000'000;

  static constexpr int kWokenAtOnce = 8;

  void wake_workers(const Pool& p) noexcept;

  uint32_t served_ = 0;  // roots that had ended when identities ended last
  bool waits_ = false;  // for the end of what follows; one root more that ends does not make it longer
  uint32_t regions_seen_ = 0;  // of all roots; another number says that some have been at work
  int64_t quiet_since_ = 0;
  int to_wake_ = 0;  // workers that are to do their part and may sleep: those with numbers below
};

}  // namespace weft::core
