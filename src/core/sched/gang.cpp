// SPDX-License-Identifier: Apache-2.0
#include "core/sched/gang.h"

#include <algorithm>

#include "core/sched/fork_join.h"
#include "core/sched/job_tokens.h"
#include "core/sched/pool.h"
#include "core/sched/roots.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "core/sched/upcalls.h"
#include "core/sched/waking.h"

namespace weft::core {

namespace {

bool has_time(const Carrier* carrier, const Context* self) noexcept {
  if (carrier == self->carrier || !carrier->ready.empty()) return false;
  const Pool& p = pool();
  if (carrier->is_root() ? carrier != self->root : !p.allowed(carrier)) return false;
  // Relaxed: both are guesses, since things may have changed when they are used.
  return carrier->waiting.load(std::memory_order_relaxed) || p.is_idle(carrier);
}

struct Idle {
  int at_once = 0;
  int slotless = 0;  // these need a slot of the node first
};

Idle count_idle(const Pool& p, const Context* self) noexcept {
  Idle idle;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    if (has_time(p.carrier(i), self)) ++(p.node.lacks_slot(*p.carrier(i)) ? idle.slotless : idle.at_once);
  }
  return idle;
}

bool waits(const Carrier* carrier, const Context* self) noexcept {
  return has_time(carrier, self) && carrier->waiting.load(std::memory_order_relaxed);
}

void join_gang(void* argument) noexcept {
  auto* parallel_call = static_cast<ParallelCall*>(argument);
  run_claimed(current_context(), parallel_call, parallel_call->take());
}

}  // namespace

int idle_carriers() noexcept {
  const Pool& p = pool();
  want_cpus(p.settings.slots);
  const Idle idle = count_idle(p, current_context());
  return idle.at_once + p.node.obtainable(idle.slotless + p.unmade_workers());
}

int other_roots() noexcept {
  want_cpus(pool().settings.slots);
  const Context* self = current_context();
  // Relaxed: a guess, as in has_time().
  const int own = self->home != nullptr && self->home->holds_slot.load(std::memory_order_relaxed) ? 1 : 0;
  return pool().active_roots.load(std::memory_order_relaxed) - own;
}

bool alone() noexcept { return other_roots() <= 0 && !pool().node.has_neighbours(); }

int busy_carriers() noexcept {
  const Pool& p = pool();
  const int count = p.worker_count.load(std::memory_order_acquire);
  int busy = p.active_roots.load(std::memory_order_relaxed);
  for (int i = 0; i < count; ++i) {
    const Carrier* worker = p.worker(i);
    // Relaxed: a guess, as in has_time().
    const bool has_nothing = p.is_idle(worker) || worker->waiting.load(std::memory_order_relaxed);
    busy += p.allowed(worker) && !has_nothing ? 1 : 0;
  }
  return busy;
}

void count_gang() noexcept { pool().gangs.fetch_add(1, std::memory_order_relaxed); }

// Returns how many of the gang's calls lack a carrier. Each gang adds its calls before it counts the idle carriers: of
// two gangs that do so at the same time, one sees the calls of both. What other gangs lack they lend themselves. Where
// carriers that a gang had counted on have found something else to do, the monitor helps (help_gangs).
int announce_gang(int calls) noexcept {
  count_gang();
  return std::min(calls, pool().gang_calls.fetch_add(calls) + calls - idle_carriers());
}

void begin_gang_calls(int calls) noexcept { pool().gang_calls.fetch_sub(calls, std::memory_order_relaxed); }

int lend_threads(int missing) noexcept {
  if (missing <= 0) return 0;
  Pool& p = pool();
  p.lent_to_gangs.fetch_add(missing, std::memory_order_relaxed);
  const int wanted = p.worker_limit();
  grow_workers(wanted);
  const int refused = std::clamp(wanted - p.worker_count.load(std::memory_order_acquire), 0, missing);
  if (refused > 0) p.lent_to_gangs.fetch_sub(refused, std::memory_order_relaxed);
  const int lent = missing - refused;
  p.compensations.fetch_add(static_cast<uint64_t>(lent), std::memory_order_relaxed);
  return lent;
}

void return_threads(int lent) noexcept {
  if (lent > 0) pool().lent_to_gangs.fetch_sub(lent, std::memory_order_relaxed);
}

void begin_sleep(const Context* self) noexcept {
  if (self->home != nullptr) release_slot(self->home);
}

void end_sleep(const Context* self) noexcept {
  if (self->home != nullptr) hold_slot(self->home);
}

void summon(ParallelCall* parallel_call, int calls) noexcept {
  const Context* self = current_context();
  Pool& p = pool();
  const int unmade = p.unmade_workers();
  const Idle idle = count_idle(p, self);
  const int missing = calls - idle.at_once - idle.slotless;
  if (unmade > 0 && missing > 0) want_workers(1 + p.worker_count.load(std::memory_order_relaxed) + missing);
  const int count = p.carrier_count.load(std::memory_order_acquire);
  // Carriers that look for work find the parallel call in its publisher's table. Carriers that wait have to be given a
  // context that claims a member.
  const bool found_by_idle = parallel_call->open_index >= 0;
  int woken = 0;
  for (int i = 0; i < count && found_by_idle && woken < calls; ++i) {
    const Carrier* carrier = p.carrier(i);
    if (!has_time(carrier, self) || !p.is_idle(carrier)) continue;
    notify({self->root, parallel_call});
    ++woken;
  }
  int next = 0;
  for (int i = woken; i < calls; ++i) {
    Context* context = make_context(join_gang, parallel_call, 0);
    if (context == nullptr) return;
    while (next < count && !waits(p.carrier(next), self)) ++next;
    if (next < count) context->carrier = p.carrier(next++);
    launch(context);
  }
}

}  // namespace weft::core
