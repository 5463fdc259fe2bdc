// SPDX-License-Identifier: Apache-2.0
#include "core/root_watch.h"

#include <new>
#include <utility>

#include "core/pool.h"
#include "platform/cycles.h"

namespace weft::core {

bool asleep_in_kernel(const Carrier& carrier) noexcept {
  if (carrier.wake.load(std::memory_order_relaxed) == Wake::sleeping) return false;
  if (carrier.is_root() && !carrier.holds_slot.load(std::memory_order_relaxed)) return false;
  return platform::thread_state(carrier.thread_id.load(std::memory_order_relaxed)) == platform::ThreadState::sleeping;
}

RootWatch::Use RootWatch::use(const Carrier& root, Seen& before) noexcept {
  if (looks_left_ <= 0) return Use::unknown;
  --looks_left_;
  const pid_t thread = root.thread_id.load(std::memory_order_relaxed);
  platform::RunTimes times;
  if (!platform::run_times(thread, times)) {
    return platform::thread_state(thread) == platform::ThreadState::running ? Use::much : Use::little;
  }
  const int64_t time = platform::now_ns();
  const int64_t wanted = times.ran_ns + times.waited_ns;
  const int64_t passed = time - std::exchange(before.time, time);
  const int64_t more = wanted - std::exchange(before.wanted_cpu_ns, wanted);
  // After a pause in the looks it says what was, not what is.
  constexpr int64_t kRecentNs = 50'000'000;
  if (passed > kRecentNs) return Use::unknown;
  if (2 * more > passed) return Use::much;
  // A wait counts when it is over.
  return platform::thread_state(thread) == platform::ThreadState::running ? Use::unknown : Use::little;
}

void RootWatch::look_at_holder(Pool& p, Carrier* root, Seen& before) noexcept {
  const uint32_t regions = root->regions_seen.load(std::memory_order_relaxed);
  const bool between_regions = root->regions_open.load(std::memory_order_relaxed) == 0;
  const bool quiet = between_regions && regions == before.regions;
  before.regions = regions;
  before.quiet_ticks = quiet ? before.quiet_ticks + 1 : 0;
  // Where nobody else runs, nobody minds whether it counts.
  const bool matters = p.active_roots.load(std::memory_order_relaxed) > 1 || p.node.on();
  Use now = Use::little;
  if (quiet && matters) now = use(*root, before);
  const bool ends = before.quiet_ticks >= kTicksToRelease && now == Use::little;
  // A thread that waits for something of the program's uses no CPU; what others have to do must not wait for ticks.
  if (!ends && !(between_regions && now != Use::much && pending_work(p) > 0 && asleep_in_kernel(*root))) return;
  release_slot(root);
  before.released = has_released_ = true;
  before.follow_ticks = kTicksToFollow;
}

void RootWatch::look_at_released(Pool& p, Carrier* root, Seen& before) noexcept {
  const bool released = std::exchange(before.released, false);
  // It had seen its slot, and begun a region, while it was taken away. Relaxed: after a tick, what it has stored is to
  // be seen.
  bool runs = released && root->regions_open.load(std::memory_order_relaxed) > 0;
  if (!runs && before.follow_ticks > 0 && (p.active_roots.load(std::memory_order_relaxed) > 0 || p.node.on())) {
    --before.follow_ticks;
    runs = use(*root, before) == Use::much;
  }
  if (runs) hold_slot(root);
}

void RootWatch::tick(Pool& p) noexcept {
  has_released_ = false;
  looks_left_ = kLooks;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  if (++first_ >= count) first_ = 0;
  for (int i = 0; i < count; ++i) {
    const int index = first_ + i < count ? first_ + i : first_ + i - count;
    Carrier* carrier = p.carrier(index);
    if (!carrier->is_root() || carrier->is_seat.load(std::memory_order_relaxed)) continue;
    Seen*& before = seen_[static_cast<size_t>(index)];
    if (before == nullptr) before = new (std::nothrow) Seen;
    if (before == nullptr) continue;
    if (carrier->holds_slot.load(std::memory_order_relaxed)) {
      look_at_holder(p, carrier, *before);
    } else {
      look_at_released(p, carrier, *before);
    }
  }
}

}  // namespace weft::core
