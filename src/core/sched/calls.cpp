// SPDX-License-Identifier: Apache-2.0
#include "core/sched/calls.h"

#include <utility>

#include "core/sched/step.h"
#include "core/sched/waking.h"
#include "platform/fence.h"

namespace weft::core {

void settle(Carrier* carrier, Work work, bool uncalled) noexcept {
  const Carrier::Call call = std::exchange(carrier->call, Carrier::Call::none);
  if (call == Carrier::Call::open && !uncalled) return;
  const Pool& p = pool();
  const bool anybody = !p.none_idle() || p.waiting_count.load(std::memory_order_relaxed) > 0;
  if (!anybody || !work_in_sight(carrier)) return;
  // What is in sight of a worker may be another root's, which this one would come for in vain.
  const Carrier* root = work.group;
  const bool sees = root != nullptr && root->is_listed() && work_in_sight(p.carrier(root->index));
  if (!carrier->is_root() && !sees) work.group = nullptr;
  notify({work.group, nullptr});
  // What is left may be more of the same, for which threads have been lent that do nothing else.
  if (p.is_oversubscribed()) notify(work);
}

void take_poke(Carrier* carrier) noexcept {
  if (!carrier->poked.load(std::memory_order_relaxed)) return;
  carrier->poked.exchange(false);
  platform::full_fence_after_update();
  carrier->call = Carrier::Call::open;
}

void decline_call(Carrier* carrier) noexcept {
  if (std::exchange(carrier->call, Carrier::Call::none) == Carrier::Call::none) return;
  Pool& p = pool();
  // Workers that may work see the same: one that sees nothing speaks for the others.
  bool asked = false;
  const auto comes = [&](int index) {
    Carrier* other = p.carrier(index);
    if (other == nullptr || !p.allowed(other)) return false;
    if (!other->is_root() && asked) return false;
    const bool sees = work_in_sight(other);
    if (!other->is_root()) asked = !sees;
    return sees;
  };
  const int index = p.idle.take(0, p.carrier_count.load(std::memory_order_acquire), comes);
  if (index >= 0) wake(p.carrier(index));
}

}  // namespace weft::core
