// SPDX-License-Identifier: Apache-2.0
#include "core/sched/idle.h"

#include <utility>

#include "core/sched/carrier_binding.h"
#include "core/sched/cpu_spread.h"
#include "core/sched/free_contexts.h"
#include "core/sched/polling.h"
#include "core/sched/pool.h"
#include "core/sched/release_idle.h"
#include "core/sched/roots.h"
#include "core/sched/switching.h"
#include "core/sched/waking.h"
#include "core/sched/work_in_sight.h"
#include "platform/cycles.h"
#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::core {

namespace {

// So many free contexts stay at hand of a carrier that sleeps, for its next work; the others go to its shelf, for
// carriers that run short meanwhile.
constexpr int kKeptAsleep = 2;

// A carrier that waits looks at the clock so often before it looks for work on other NUMA nodes: that takes some
// microseconds, in which the carriers there come for the work that they have been called for.
constexpr int kLooksBeforeAfar = 3;
// The same where threads are bound: the work on other nodes is mostly not for this carrier, and a look at all carriers
// takes cache lines from those that are at work.
constexpr int kLooksWhereBound = 48;

// Ends a carrier's being idle. If a thread has called it meanwhile, it has called no other carrier for that work; so
// the carrier has to see that the work gets done (`call`), unless it was called for what it alone can do.
[[gnu::always_inline]] inline void rise(Pool& p, Carrier* carrier, Carrier::Call called) noexcept {
  if (p.idle.remove(carrier->index)) return;
  if (carrier->wake.load(std::memory_order_relaxed) != Wake::own) carrier->call = called;
}

// Notes how long it took from the call that woke the carrier until its thread had a CPU.
void note_rise(Carrier* carrier) noexcept {
  const int64_t called = carrier->called_ns.exchange(0, std::memory_order_relaxed);
  if (called == 0) return;
  const int64_t now = platform::now_ns();
  note_wait(carrier, now, now - called);
}

// To be called once the carrier has waited in vain for work on its own NUMA node. Returns whether there is work on
// others. The carrier counts as idle already, so work that comes later calls it.
bool look_afar(Carrier* carrier) noexcept { return carrier->looks_afar = work_in_sight(carrier); }

// A root that falls asleep between two regions waits for a lock, for example. Whoever holds that may need the CPU.
// Returns whether it has left its slot.
bool leave_slot_outside_regions(Carrier* carrier) noexcept {
  const bool is_outside = carrier->is_root() && carrier->regions_open.load(std::memory_order_relaxed) == 0;
  if (!is_outside || !carrier->holds_slot.load(std::memory_order_relaxed)) return false;
  release_slot(carrier);
  return true;
}

// Sleeps, and polls if this carrier is the sleeper that polls. The carrier's `wake` is `sleeping`.
void sleep_until_called(Carrier* carrier) noexcept {
  SleepingPoller poller;
  while (carrier->wake.load() == Wake::sleeping) {
    if (!poller.polls()) {
      platform::futex_wait(carrier->wake, Wake::sleeping);
      continue;
    }
    if (!platform::futex_wait_for(carrier->wake, Wake::sleeping, poller.rest_ns())) continue;
    // What the poll finds may call this very carrier, so it must count as awake meanwhile.
    uint32_t expected = Wake::sleeping;
    if (!carrier->wake.compare_exchange_strong(expected, Wake::none)) return;
    poll();
    expected = Wake::none;
    if (!carrier->wake.compare_exchange_strong(expected, Wake::sleeping)) return;
  }
}

}  // namespace

void rest(Context* self, bool in_place) noexcept {
  Carrier* carrier = self->carrier;
  Pool& p = pool();
  if (!in_place && !self->pinned) return_to_place(carrier);
  // Relaxed: a thread finds the carrier idle only after add(), and writes `wake` then.
  carrier->wake.store(Wake::none, std::memory_order_relaxed);
  p.idle.add(carrier->index);
  platform::full_fence_after_update();
  carrier->looks_afar = false;
  // Work published before this point may have found nobody idle.
  if (work_near(carrier) || (in_place && self->token.load() != Token::resting)) {
    rise(p, carrier, Carrier::Call::missed);
    return;
  }
  bool afar = !p.nodes.several() || carrier->is_root();  // whether the look at other NUMA nodes is done
  if (!afar) p.nodes.note(carrier->index, current_numa_node());
  const bool is_bound = carrier->place.load(std::memory_order_relaxed) >= 0;
  const int looks_near = is_bound ? kLooksWhereBound : kLooksBeforeAfar;
  int looks = 0;
  const auto sees_afar = [&] { return !std::exchange(afar, true) && look_afar(carrier); };
  // A bound thread cannot leave a CPU that others use, and its members wait for it. There each yield gives those others
  // a time slice, while a thread that has slept comes before them.
  const long budget = is_bound && carrier->lateness.any() ? 0 : p.spin_ns.load(std::memory_order_relaxed);
  int64_t looked = budget == 0 ? 0 : platform::now_ns();
  const int64_t deadline = looked + budget;
  CpuSpread spread;
  for (int spins = 0; carrier->wake.load(std::memory_order_acquire) == Wake::none; ++spins) {
    platform::pause();
    if (budget != 0 && p.may_spin(carrier)) {
      if (spins % 64 != 63) continue;
      p.node.look(p);
      poll();
      const int64_t now = platform::now_ns();
      note_wait(carrier, now, now - std::exchange(looked, now));
      if (++looks >= looks_near && sees_afar()) {
        rise(p, carrier, Carrier::Call::missed);
        return;
      }
      if (now < deadline && !(spread.has_given_way() && polls())) {
        spread.look(carrier, now, now - (deadline - budget));
        continue;
      }
    }
    if (Context* successor = in_place ? nullptr : release_before_sleep(self)) {
      rise(p, carrier, Carrier::Call::open);
      if (successor != self) switch_counted(self, successor, Departure::idle);
      return;
    }
    if (sees_afar()) {
      rise(p, carrier, Carrier::Call::missed);
      return;
    }
    shelve(carrier, kKeptAsleep);
    const bool has_left = leave_slot_outside_regions(carrier);
    // If the carrier has given up its slot, it may take another one for work that has come; as long as it had a slot
    // that was one too many for the process, it could not have used it.
    uint32_t expected = Wake::none;
    if (!(p.node.lie_down(carrier) && work_in_sight(carrier)) &&
        carrier->wake.compare_exchange_strong(expected, Wake::sleeping)) {
      carrier->statistics.parks.add();
      sleep_until_called(carrier);
      note_rise(carrier);
    }
    if (has_left) hold_slot(carrier);
    break;
  }
  rise(p, carrier, Carrier::Call::open);
}

void idle(Context* self) noexcept {
  Pool& p = pool();
  do {
    rest(self, false);
    // A thread that is to end needs no slot for that.
  } while (!self->ends && !p.node.get_up(p, self->carrier));
}

}  // namespace weft::core
