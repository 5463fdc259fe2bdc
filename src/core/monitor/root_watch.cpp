// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/root_watch.h"

#include <utility>

#include "core/sched/pool.h"
#include "core/sched/roots.h"
#include "core/sched/work_in_sight.h"
#include "platform/cycles.h"
#include "platform/thread_state.h"

namespace weft::core {

bool asleep_in_kernel(const Carrier& carrier) noexcept {
  if (carrier.wake.load(std::memory_order_relaxed) == Wake::sleeping) return false;
  if (carrier.is_root() && !carrier.holds_slot.load(std::memory_order_relaxed)) return false;
  return platform::thread_state(carrier.thread_id.load(std::memory_order_relaxed)) == platform::ThreadState::sleeping;
}

namespace {

bool wants_cpu(const Carrier& carrier) noexcept {
  return platform::thread_state(carrier.thread_id.load(std::memory_order_relaxed)) == platform::ThreadState::running;
}

}  // namespace

RootWatch::Use RootWatch::use(const Carrier& root, Seen& before) noexcept {
  if (looks_left_ <= 0) return Use::unknown;
  --looks_left_;
  platform::RunTimes times;
  if (!platform::run_times(root.thread_id.load(std::memory_order_relaxed), times)) {
    return wants_cpu(root) ? Use::much : Use::little;
  }
  const int64_t time = platform::now_ns();
  const int64_t wanted = times.ran_ns + times.waited_ns;
  const int64_t passed = time - std::exchange(before.time, time);
  const int64_t more = wanted - std::exchange(before.wanted_cpu_ns, wanted);
  // The looks pause at times. A share of a longer time says what the thread did once, not what it does now.
  constexpr int64_t kRecentNs = 50'000'000;
  if (passed > kRecentNs) return Use::unknown;
  return 2 * more > passed ? Use::much : Use::little;
}

void RootWatch::look_at_holder(Pool& p, Carrier* root, Seen& before, bool work_waits) noexcept {
  const uint32_t regions = root->regions_seen.load(std::memory_order_relaxed);
  const bool between_regions = root->regions_open.load(std::memory_order_relaxed) == 0;
  const bool quiet = between_regions && regions == before.regions;
  before.regions = regions;
  before.quiet_ticks = quiet ? before.quiet_ticks + 1 : 0;
  // Where nobody else runs, it makes no difference whether the root holds a slot.
  const bool matters = p.active_roots.load(std::memory_order_relaxed) > 1 || p.node.has_neighbours();
  const Use now = quiet && matters ? use(*root, before) : Use::little;
  if (!between_regions || now == Use::much) return;
  const bool quiet_for_long = before.quiet_ticks >= kTicksToRelease && now == Use::little;
  if (!quiet_for_long && !work_waits) return;
  // The system counts a wait for a CPU when it is over, so for a thread that waits now its state is read. A thread that
  // waits for something else uses no CPU, and work that waits gets the slot at once, not after some ticks.
  if ((matters || !quiet_for_long) && wants_cpu(*root)) return;
  release_slot(root);
  before.released = has_released_ = true;
  before.follow_ticks = kTicksToFollow;
}

void RootWatch::look_at_released(Pool& p, Carrier* root, Seen& before) noexcept {
  const bool released = std::exchange(before.released, false);
  // The root may have begun a region, as it saw that it held its slot, while the slot was being taken away. Relaxed:
  // what it has stored is seen after a tick.
  bool runs = released && root->regions_open.load(std::memory_order_relaxed) > 0;
  if (!runs && before.follow_ticks > 0 &&
      (p.active_roots.load(std::memory_order_relaxed) > 0 || p.node.has_neighbours())) {
    --before.follow_ticks;
    runs = use(*root, before) == Use::much;
  }
  if (runs) hold_slot(root);
}

void RootWatch::tick(Pool& p) noexcept {
  const bool work_waits = pending_work(p) > 0;
  has_released_ = false;
  looks_left_ = kLooks;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  if (++first_ >= count) first_ = 0;
  for (int i = 0; i < count; ++i) {
    const int index = first_ + i < count ? first_ + i : first_ + i - count;
    Carrier* carrier = p.carrier(index);
    if (!carrier->is_root() || carrier->is_for_guest.load(std::memory_order_relaxed)) continue;
    Seen* before = seen_.find_or_make(index);
    if (before == nullptr) continue;
    if (carrier->holds_slot.load(std::memory_order_relaxed)) {
      look_at_holder(p, carrier, *before, work_waits);
    } else {
      look_at_released(p, carrier, *before);
    }
  }
}

}  // namespace weft::core
