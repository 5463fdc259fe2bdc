// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/root_ends.h"

#include <algorithm>

#include "core/sched/pool.h"
#include "core/sched/release_idle.h"
#include "core/sched/waking.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

struct Regions {
  uint32_t seen = 0;
  bool open = false;
};

// Relaxed: a region that is seen late has its identities, which are left alone.
Regions regions_of_roots(const Pool& p) noexcept {
  Regions found;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier* carrier = p.carrier(i);
    if (!carrier->is_root()) continue;
    found.seen += carrier->regions_seen.load(std::memory_order_relaxed);
    found.open |= carrier->regions_open.load(std::memory_order_relaxed) > 0;
  }
  return found;
}

}  // namespace

void RootEnds::tick(Pool& p) noexcept {
  wake_workers(p);
  const uint32_t ended = p.roots_ended.load(std::memory_order_relaxed);
  if (ended == served_) return;
  const Regions regions = regions_of_roots(p);
  const int64_t now = platform::now_ns();
  if (!waits_ || regions.open || regions.seen != regions_seen_) {
    waits_ = true;
    regions_seen_ = regions.seen;
    quiet_since_ = now;
    return;
  }
  if (now - quiet_since_ < kQuietNs) return;
  waits_ = false;
  served_ = ended;
  // Where memory is locked they have been made ahead (core/sched/persistent_team.cpp).
  if (p.memory_is_locked.load(std::memory_order_relaxed) || p.exits.load(std::memory_order_relaxed)) return;
  end_used_identities(p);
  to_wake_ = p.worker_count.load(std::memory_order_acquire);
}

// Each that wakes may start the thread that takes its place, with the pool's lock held.
void RootEnds::wake_workers(const Pool& p) noexcept {
  const int rest = std::max(0, to_wake_ - kWokenAtOnce);
  while (to_wake_ > rest) wake(p.worker(--to_wake_));
}

bool RootEnds::need_ticks(const Pool& p) const noexcept {
  return to_wake_ > 0 || p.roots_ended.load(std::memory_order_relaxed) != served_;
}

}  // namespace weft::core
