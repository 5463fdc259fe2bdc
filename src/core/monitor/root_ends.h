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

  // What has been seen of roots; another value says that some have been at work.
  struct Seen {
    uint32_t ended = 0;
    uint32_t regions = 0;
    bool operator==(const Seen&) const = default;
  };

  uint32_t served_ = 0;  // roots that had ended when identities ended last
  Seen seen_;
  int64_t quiet_since_ = 0;
};

}  // namespace weft::core
