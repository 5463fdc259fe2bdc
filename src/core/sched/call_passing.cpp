// SPDX-License-Identifier: Apache-2.0
#include "core/sched/call_passing.h"

#include <utility>

#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "core/sched/work.h"
#include "core/sched/work_in_sight.h"

namespace weft::core {

[[gnu::noinline]] void settle(Carrier* carrier, Work work, bool uncalled) noexcept {
  const Carrier::Call call = std::exchange(carrier->call, Carrier::Call::none);
  if (call == Carrier::Call::open && !uncalled) return;
  const Pool& p = pool();
  const bool anybody = !p.none_idle() || p.any_waiting();
  if (!anybody || !work_in_sight(carrier)) return;
  // A worker sees the work of all roots, a root only its own. So a root is called for only where it sees work itself.
  const Carrier* root = work.root;
  const bool sees = root != nullptr && root->is_listed() && work_in_sight(p.carrier(root->index));
  if (!carrier->is_root() && !sees) work.root = nullptr;
  notify({work.root, nullptr});
  // The work that is left may be of the same region, and the threads lent to that do nothing else.
  if (p.is_oversubscribed()) notify(work);
}

void decline_call(Carrier* carrier) noexcept {
  if (std::exchange(carrier->call, Carrier::Call::none) == Carrier::Call::none) return;
  Pool& p = pool();
  // The NUMA nodes, as bits, of which a worker has seen no work: the other workers of the node would see the same.
  uint64_t asked = 0;
  const auto comes = [&](int index) {
    Carrier* other = p.carrier(index);
    if (other == nullptr || !p.allowed(other)) return false;
    const uint64_t node = uint64_t{1} << (p.nodes.several() ? static_cast<unsigned>(p.nodes.of(index)) % 64 : 0);
    if (!other->is_root() && (asked & node) != 0) return false;
    const bool sees = work_in_sight(other);
    if (!other->is_root() && !sees) asked |= node;
    return sees;
  };
  const int index = p.idle.take(0, p.carrier_count.load(std::memory_order_acquire), comes);
  if (index >= 0) wake(p.carrier(index));
}

void pass_call_on() noexcept {
  const Context* self = current_context();
  Carrier* carrier = self->carrier;
  if (carrier->call == Carrier::Call::none) return;
  if (carrier->is_root() || pool().allowed(carrier)) {
    settle(carrier, work_of(self), true);
  } else {
    decline_call(carrier);
  }
}

}  // namespace weft::core
