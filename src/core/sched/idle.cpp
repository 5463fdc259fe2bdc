// SPDX-License-Identifier: Apache-2.0
#include "core/sched/idle.h"

#include <utility>

#include "core/sched/carrier_binding.h"
#include "core/sched/cpu_spread.h"
#include "core/sched/free_contexts.h"
#include "core/sched/polling.h"
#include "core/sched/pool.h"
#include "core/sched/release_idle.h"
#include "core/sched/switching.h"
#include "core/sched/waking.h"
#include "core/sched/work_in_sight.h"
#include "platform/cycles.h"
#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::core {

namespace {

// Where a carrier sleeps, for the carrier that comes next; the others are for those that run short meanwhile.
constexpr int kKeptAsleep = 2;

// So often it looks at the clock before it looks for work on other NUMA nodes: some microseconds, in which carriers
// there have come for what they have been called for.
constexpr int kLooksBeforeAfar = 3;
// The same where threads are bound: what is there is mostly not for this carrier, and a look at all carriers takes
// their lines from those that are at work.
constexpr int kLooksWhereBound = 48;

// No longer idle. A thread that has called it meanwhile, but for what it alone does, has
// called nobody else.
[[gnu::always_inline]] inline void rise(Pool& p, Carrier* carrier, Carrier::Call called) noexcept {
  if (p.idle.remove(carrier->index)) return;
  if (carrier->wake.load(std::memory_order_relaxed) != Wake::own) carrier->call = called;
}

// How long it took from the call until its thread had a CPU.
void note_rise(Carrier* carrier) noexcept {
  const int64_t called = carrier->called_ns.exchange(0, std::memory_order_relaxed);
  if (called == 0) return;
  const int64_t now = platform::now_ns();
  note_wait(carrier, now, now - called);
}

// Once it has waited in vain for work on its own NUMA node: whether there is some elsewhere. It is idle already, so
// what comes later calls it.
bool look_afar(Carrier* carrier) noexcept { return carrier->looks_afar = work_in_sight(carrier); }

// Its state is `sleeping`.
void sleep_until_called(Carrier* carrier) noexcept {
  SleepingPoller poller;
  while (carrier->wake.load() == Wake::sleeping) {
    if (!poller.polls()) {
      platform::futex_wait(carrier->wake, Wake::sleeping);
      continue;
    }
    if (!platform::futex_wait_for(carrier->wake, Wake::sleeping, poller.rest_ns())) continue;
    // What it finds may call this very carrier, which is awake.
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
  // Relaxed: a thread that finds it idle comes later.
  carrier->wake.store(Wake::none, std::memory_order_relaxed);
  p.idle.add(carrier->index);
  platform::full_fence_after_update();
  carrier->looks_afar = false;
  // Work published before this point may have found nobody idle.
  if (work_near(carrier) || (in_place && self->token.load() != Token::resting)) {
    rise(p, carrier, Carrier::Call::missed);
    return;
  }
  bool afar = !p.nodes.several() || carrier->is_root();  // it has looked
  if (!afar) p.nodes.note(carrier->index, current_numa_node());
  const int looks_near = carrier->place.load(std::memory_order_relaxed) < 0 ? kLooksBeforeAfar : kLooksWhereBound;
  int looks = 0;
  const auto sees_afar = [&] { return !std::exchange(afar, true) && look_afar(carrier); };
  const long budget = p.spin_ns.load(std::memory_order_relaxed);
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
    // Without its slot it may take another; with too many slots in the process it could not use the one it had.
    if (p.node.lie_down(carrier) && work_in_sight(carrier)) break;
    uint32_t expected = Wake::none;
    if (!carrier->wake.compare_exchange_strong(expected, Wake::sleeping)) break;
    carrier->statistics.parks.add();
    sleep_until_called(carrier);
    note_rise(carrier);
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
