// SPDX-License-Identifier: Apache-2.0
#include "core/sched/call_passing.h"

#include <utility>

#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "core/sched/work.h"
#include "core/sched/work_in_sight.h"

namespace weft::core {

namespace {

// An idle carrier that fits and has something to do. False: there is none.
template <class Fits>
bool wake_one_that_sees(Pool& p, Fits&& fits) noexcept {
  // Workers of a NUMA node see the same: one that sees nothing speaks for the others.
  bool asked = false;
  const auto comes = [&](int index) {
    Carrier* other = p.carrier(index);
    if (other == nullptr || !fits(other)) return false;
    if (!other->is_root() && asked) return false;
    const bool sees = work_in_sight(other);
    if (!other->is_root()) asked = !sees && !p.nodes.several();
    return sees;
  };
  const int index = p.idle.take(0, p.carrier_count.load(std::memory_order_acquire), comes);
  if (index < 0) return false;
  wake(p.carrier(index));
  return true;
}

}  // namespace

[[gnu::noinline]] void settle(Carrier* carrier, Work work, bool uncalled) noexcept {
  const Carrier::Call call = std::exchange(carrier->call, Carrier::Call::none);
  if (call == Carrier::Call::open && !uncalled) return;
  Pool& p = pool();
  const bool anybody = !p.none_idle() || p.any_waiting();
  if (!anybody || !work_in_sight(carrier)) return;
  // What is in sight of a worker may be another root's, which this one would come for in vain.
  const Carrier* root = work.root;
  const bool sees = root != nullptr && root->is_listed() && work_in_sight(p.carrier(root->index));
  if (!carrier->is_root() && !sees) work.root = nullptr;
  const auto fits = [&](const Carrier* other) { return may_serve(p, other, {work.root, nullptr}); };
  // What is left may be for carriers of some nodes.
  if (!p.nodes.several() || !wake_one_that_sees(p, fits)) notify({work.root, nullptr});
  // What is left may be more of the same, for which threads have been lent that do nothing else.
  if (p.is_oversubscribed()) notify(work);
}

void decline_call(Carrier* carrier) noexcept {
  if (std::exchange(carrier->call, Carrier::Call::none) == Carrier::Call::none) return;
  Pool& p = pool();
  wake_one_that_sees(p, [&p](const Carrier* other) { return p.allowed(other); });
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
