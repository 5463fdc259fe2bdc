// SPDX-License-Identifier: Apache-2.0
// A context that waits in place spins for a while; meanwhile its carrier can be asked for something else.
#include "core/sched/spinning.h"
#include "core/sched/call_passing.h"
#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "core/sched/work.h"
#include "core/sched/work_in_sight.h"
#include "platform/fence.h"

namespace weft::core {

long spin_ns() noexcept { return pool().spin_ns.load(std::memory_order_relaxed); }

void set_spin_ns(long ns) noexcept { pool().spin_ns.store(ns, std::memory_order_relaxed); }

bool owed_to_node(int64_t waited_ns) noexcept {
  // What a member waits for mostly comes soon: to give a slot away and to get it back takes as long.
  constexpr int64_t kPatienceNs = 50'000;
  Pool& p = pool();
  return waited_ns >= kPatienceNs && p.node.owes_cpu(p);
}

void begin_waiting(const Context* self) noexcept {
  Carrier* carrier = self->carrier;
  carrier->waiting.store(true, std::memory_order_relaxed);
  platform::full_fence();
  if (carrier->is_listed()) pool().waiting.announce(carrier->index);
  // Work that was published before this point may have found no carrier, so this one looks for it, on its own NUMA
  // node. Work on other nodes has to wait until offer_thread(): mostly carriers that wait for nothing do it.
  if (work_near(carrier)) carrier->poked.store(true, std::memory_order_relaxed);
}

void end_waiting(const Context* self, bool goes_on) noexcept {
  Carrier* carrier = self->carrier;
  carrier->waiting.store(false, std::memory_order_relaxed);
  // With the fence in poke_waiting(): either this carrier sees the poke, or the thread that pokes sees that it is in
  // vain.
  platform::full_fence();
  take_poke(carrier);
  if (goes_on) settle_call(carrier, work_of(self), true);
}

void offer_thread(const Context* self) noexcept {
  Carrier* carrier = self->carrier;
  if (!carrier->is_root()) {
    // Its own NUMA node it has looked at when it began to wait.
    if (pool().nodes.several() && work_in_sight(carrier)) carrier->poked.store(true, std::memory_order_relaxed);
    return;
  }
  const bool there = visit_others(pool(), carrier, [carrier](Carrier* victim) {
    return may_begin(carrier, victim) ||
           victim->ready.has([=](const Context* ready) { return may_take(carrier, victim, ready); });
  });
  if (there) carrier->poked.store(true, std::memory_order_relaxed);
}

bool is_oversubscribed() noexcept {
  const Pool& p = pool();
  return p.is_oversubscribed() || p.is_crowded();
}

bool comes_late(const Context* self, int64_t now_ns, int64_t since_ns) noexcept {
  note_wait(self->carrier, now_ns, since_ns);
  return self->carrier->lateness.any();
}

bool is_bound(const Context* self) noexcept { return self->carrier->place.load(std::memory_order_relaxed) >= 0; }

bool wanted_elsewhere(const Context* self) noexcept {
  const Carrier* carrier = self->carrier;
  if (!carrier->ready.empty() || carrier->poked.load(std::memory_order_relaxed)) return true;
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) return true;
  return !carrier->is_root() && !pool().allowed(carrier);
}

}  // namespace weft::core
