// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/root_ends.h"

#include "core/sched/pool.h"
#include "core/sched/release_idle.h"
#include "platform/cycles.h"

namespace weft::core {

void RootEnds::tick(Pool& p) noexcept {
  if (!need_ticks(p)) return;
  Seen now{p.roots_ended.load(std::memory_order_relaxed), 0};
  bool open = false;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  // Relaxed: a region that is seen late has its identities, which are left alone.
  for (int i = 0; i < count; ++i) {
    const Carrier* carrier = p.carrier(i);
    if (!carrier->is_root()) continue;
    now.regions += carrier->regions_seen.load(std::memory_order_relaxed);
    open |= carrier->regions_open.load(std::memory_order_relaxed) > 0;
  }
  const int64_t time = platform::now_ns();
  if (open || now != seen_) {
    seen_ = now;
    quiet_since_ = time;
  } else if (time - quiet_since_ >= kQuietNs) {
    served_ = now.ended;
    end_used_identities(p);
  }
}

bool RootEnds::need_ticks(const Pool& p) const noexcept {
  return p.roots_ended.load(std::memory_order_relaxed) != served_;
}

}  // namespace weft::core
