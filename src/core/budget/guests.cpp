// SPDX-License-Identifier: Apache-2.0
#include "core/budget/guests.h"

#include <algorithm>

#include "core/budget/jobserver.h"
#include "core/sched/gang.h"
#include "core/sched/guest_slots.h"
#include "core/sched/pool.h"
#include "core/sched/roots.h"
#include "core/sched/watcher.h"
#include "core/sched/work_in_sight.h"

namespace weft::core {

namespace {

// Release and acquire: with the functions comes what they use.
std::atomic<const GuestSide*> g_side{nullptr};

// How many slots guests hold, also while there is no pool, and how many more they could use. Relaxed: if a thread
// starts a pool meanwhile, the next tick corrects the pool's numbers.
std::atomic<int> g_held{0};
std::atomic<int> g_more{0};

// Contexts of the pool that are inside the other library. Relaxed: a count for guesses.
std::atomic<int> g_members{0};

int own_roots(const Pool& p) noexcept {
  const int others = p.guest_slots.load(std::memory_order_relaxed) + p.held_back.load(std::memory_order_relaxed);
  return std::max(0, p.active_roots.load(std::memory_order_relaxed) - others);
}

// Where the node is shared, guests need slots of the node too. A slot of the node is held by a carrier: so there is one
// for each slot that guests hold, of the kind that roots have, but without a thread. There is also one for each slot
// that guests could use, so that the node knows what they lack.
void adjust_guest_carriers(Pool& p) noexcept {
  GuestCarriers& carriers = p.guest_carriers;
  carriers.lock.lock();
  const int held = g_held.load(std::memory_order_relaxed);
  const int wanted = p.node.carriers_for_guests(held + g_more.load(std::memory_order_relaxed), p.settings.slots);
  int count = carriers.count.load(std::memory_order_relaxed);
  while (count < wanted) {
    Carrier* carrier = take_root_carrier();
    if (carrier == nullptr) break;
    carrier->is_for_guest.store(true, std::memory_order_relaxed);
    carrier->regions_open.store(1, std::memory_order_relaxed);  // for the monitor, which takes slots from quiet roots
    carrier->holds_slot.store(true);
    carrier->next_spare = carriers.first;
    carriers.first = carrier;
    ++count;
    p.node.root_begins(carrier);
  }
  while (count > wanted) {
    Carrier* carrier = carriers.first;
    carriers.first = carrier->next_spare;
    --count;
    carrier->holds_slot.store(false);
    p.node.root_ends(carrier);
    carrier->regions_open.store(0, std::memory_order_relaxed);
    carrier->is_for_guest.store(false, std::memory_order_relaxed);
    put_root_carrier(carrier);
  }
  carriers.count.store(count, std::memory_order_relaxed);
  // Where others want slots back, those that guests do not use yet go first.
  int unused = count - held;
  for (Carrier* each = carriers.first; each != nullptr && unused > 0 && p.node.has_too_many();
       each = each->next_spare) {
    p.node.root_ends(each);
    --unused;
  }
  carriers.lock.unlock();
}

}  // namespace

int cpus_for_all() noexcept { return std::min(pool().node.usable(pool().settings.slots), cpus_by_job_tokens()); }

void set_guest_side(const GuestSide* side) noexcept { g_side.store(side, std::memory_order_release); }

bool roots_at_work() noexcept {
  const Pool* p = g_pool.load(std::memory_order_acquire);
  return p != nullptr && own_roots(*p) > 0;
}

GuestLoad guest_load() noexcept {
  GuestLoad load;
  const Pool* p = g_pool.load(std::memory_order_acquire);
  if (p == nullptr) return load;
  if (own_roots(*p) == 0) return load;
  const int count = p->carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *p->carrier(i);
    if (!carrier.is_root() || !carrier.holds_slot.load(std::memory_order_relaxed)) continue;
    if (carrier.is_for_guest.load(std::memory_order_relaxed)) continue;
    ++load.roots;
    const GuestPart part = carrier.own_context.guest_part.load(std::memory_order_relaxed);
    load.primaries += part == GuestPart::primary ? 1 : 0;
    load.workers += part == GuestPart::worker ? 1 : 0;
  }
  load.members = g_members.load(std::memory_order_relaxed);
  const int busy = busy_carriers() - p->active_roots.load(std::memory_order_relaxed);
  load.wanted = std::max(0, busy - load.members) + pending_work(*p);
  const Context* self = current_context();
  load.caller_counted =
      self->carrier != nullptr && (self->home == nullptr || self->home->holds_slot.load(std::memory_order_relaxed));
  return load;
}

void hold_for_guests(int slots, int more) noexcept {
  g_held.store(slots, std::memory_order_relaxed);
  g_more.store(more, std::memory_order_relaxed);
  Pool* p = g_pool.load(std::memory_order_acquire);
  if (p == nullptr) return;
  const int added = slots - p->guest_slots.exchange(slots, std::memory_order_relaxed);
  if (added > 0) {
    p->active_roots.fetch_add(added);
  } else if (added < 0) {
    return_slots(*p, -added);
  }
  if (job_tokens_need_ticks()) wake_monitor();
  if (!p->node.counts_guests()) return;
  adjust_guest_carriers(*p);
  wake_monitor();
}

// Called in the child of a fork. It does not touch the pool, which may still be the parent's, with locks that nobody
// unlocks.
void forget_guests() noexcept {
  g_held.store(0, std::memory_order_relaxed);
  g_more.store(0, std::memory_order_relaxed);
}

void set_guest_part(GuestPart part) noexcept {
  Context* self = current_context();
  if (self->carrier == nullptr) return;
  const GuestPart before = self->guest_part.exchange(part, std::memory_order_relaxed);
  if (self->home != nullptr) return;
  const int more = (part != GuestPart::none ? 1 : 0) - (before != GuestPart::none ? 1 : 0);
  if (more != 0) g_members.fetch_add(more, std::memory_order_relaxed);
}

GuestPart guest_part_of_caller() noexcept {
  const GuestSide* side = g_side.load(std::memory_order_acquire);
  return side != nullptr ? side->part() : GuestPart::none;
}

void begin_guests(Pool& pool) noexcept {
  const int held = g_held.load(std::memory_order_relaxed);
  pool.guest_slots.store(held, std::memory_order_relaxed);
  pool.active_roots.store(held, std::memory_order_relaxed);
  // In the child of a fork only the thread that forked can be inside the other library. If it was a context of the
  // parent's pool, it is none of this one.
  g_members.store(0, std::memory_order_relaxed);
}

void tick_guests(Pool& pool) noexcept {
  const GuestSide* side = g_side.load(std::memory_order_acquire);
  if (side == nullptr) return;
  side->tick(guest_load());
  // If there are carriers for guests, they are adjusted also when the process has just left the node.
  if (pool.node.counts_guests() || pool.guest_carriers.count.load(std::memory_order_relaxed) > 0)
    adjust_guest_carriers(pool);
}

int wanted_by_guests() noexcept { return g_more.load(std::memory_order_relaxed); }

bool guests_need_ticks(const Pool& pool) noexcept {
  return pool.node.counts_guests() &&
         g_held.load(std::memory_order_relaxed) + g_more.load(std::memory_order_relaxed) > 0;
}

}  // namespace weft::core
