// SPDX-License-Identifier: Apache-2.0
// The carriers' side of the node's budget: each takes a slot when it gets up and gives it back before it sleeps.
#include <algorithm>

#include "core/budget/slot_need.h"
#include "core/sched/node_budget.h"
#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "core/sched/watcher.h"
#include "core/sched/work_in_sight.h"
#include "node/process.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

// A process that is awake answers within microseconds; a worker that waits for a slot may as well spin so long.
constexpr int64_t kDoorNs = 50'000;

int lent_threads(const Pool& p) noexcept {
  return p.lent.load(std::memory_order_relaxed) + p.lent_to_gangs.load(std::memory_order_relaxed);
}

}  // namespace

bool NodeBudget::admitted(const Pool& p, const Carrier* carrier) const noexcept {
  const node::Process* process = process_.load(std::memory_order_acquire);
  if (process == nullptr || carrier->is_root()) return true;
  const int lent = lent_threads(p);
  switch (const int slot = carrier->slot.load(std::memory_order_relaxed); slot) {
    case Slot::taken: return false;
    case Slot::lent: return unslotted_.load(std::memory_order_relaxed) <= lent;
    case Slot::none:
      return (p.gate.load(std::memory_order_relaxed) & Gate::closed) == 0 ||
             unslotted_.load(std::memory_order_relaxed) < lent;
    default: return !process->over();
  }
}

int NodeBudget::count_obtainable(int wanted) const noexcept {
  const node::Process* process = current();
  return process != nullptr ? process->count_free(wanted) : wanted;
}

bool NodeBudget::run_unslotted(const Pool& p) noexcept {
  const int lent = lent_threads(p);
  if (lent == 0) return false;
  if (unslotted_.fetch_add(1, std::memory_order_relaxed) < lent) return true;
  unslotted_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

bool NodeBudget::take_slot(Pool& p, Carrier* carrier) noexcept {
  node::Process* process = process_.load(std::memory_order_acquire);
  if (process == nullptr) return true;
  int has = carrier->slot.load(std::memory_order_relaxed);
  if (has == Slot::lent || has >= 0) return true;
  if (has == Slot::taken) carrier->slot.compare_exchange_strong(has, Slot::none);
  int slot = process->take();
  if (carrier->is_root()) {
    if (slot < 0) return true;
  } else {
    if (slot < 0 && run_unslotted(p)) slot = Slot::lent;
    if (slot == -1) slot = wait_at_door(p, *process);
    if (slot == -1) {
      p.gate.fetch_or(Gate::closed);
      // It may be asleep: work can come from outside of regions.
      wake_monitor();
      return false;
    }
  }
  int none = Slot::none;
  // The monitor may have passed one on meanwhile.
  if (!carrier->slot.compare_exchange_strong(none, slot)) {
    if (slot >= 0) {
      process->give(slot);
    } else {
      unslotted_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  return true;
}

void NodeBudget::drop_slot(Carrier* carrier) noexcept {
  const int slot = carrier->slot.exchange(Slot::none);
  node::Process* process = process_.load(std::memory_order_acquire);
  if (slot == Slot::lent) {
    unslotted_.fetch_sub(1, std::memory_order_relaxed);
  } else if (slot >= 0 && process != nullptr) {
    process->give(slot);
  }
}

// One worker at a time asks the others for a slot and waits a moment for the answer; after that the monitor does.
int NodeBudget::wait_at_door(Pool& p, node::Process& process) noexcept {
  // Acquire and release: one at a time.
  if (process.held() >= process.most() || at_door_.exchange(true, std::memory_order_acquire)) return -1;
  process.want(std::max(1, count_missing(p, process)));
  const int64_t deadline = platform::now_ns() + kDoorNs;
  int slot = process.take();
  while (slot < 0 && process.held() < process.due() && platform::now_ns() < deadline) {
    platform::pause();
    slot = process.take();
  }
  if (slot >= 0) {
    process.count_received();
    process.want(std::max(0, process.missing() - 1));
  }
  at_door_.store(false, std::memory_order_release);
  return slot;
}

void NodeBudget::root_begins(Carrier* root) noexcept {
  node::Process* process = process_.load(std::memory_order_acquire);
  if (process == nullptr) return;
  take_slot(pool(), root);
  if (root->slot.load(std::memory_order_relaxed) != Slot::none) return;
  if (process->pressed()) favor(pool(), *process, root);
  // The monitor asks for one.
  if (root->slot.load(std::memory_order_relaxed) == Slot::none) process->ring();
}

// Gives a worker's slot to a root that runs without: a root goes on anyway, a worker stops. So the process uses no more
// CPUs than it is due.
void NodeBudget::favor(Pool& p, node::Process& process, Carrier* root) noexcept {
  const int count = p.worker_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    Carrier* worker = p.worker(i);
    int slot = worker->slot.load(std::memory_order_relaxed);
    if (slot < 0 || !worker->slot.compare_exchange_strong(slot, Slot::taken)) continue;
    p.gate.fetch_or(Gate::taken);
    int none = Slot::none;
    if (!root->slot.compare_exchange_strong(none, slot)) process.give(slot);
    return;
  }
}

// Gives a slot to a carrier of the process that can use it: those that run anyway come first, roots before workers.
bool NodeBudget::pass_on(Pool& p, int slot) noexcept {
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    Carrier& carrier = *p.carrier(i);
    int none = Slot::none;
    if (root_lacks_slot(carrier) && carrier.slot.compare_exchange_strong(none, slot)) return true;
  }
  for (int i = 0; i < count; ++i) {
    Carrier& carrier = *p.carrier(i);
    int before = carrier.slot.load(std::memory_order_relaxed);
    if (!worker_lacks_slot(p, carrier) || before >= 0 || !carrier.slot.compare_exchange_strong(before, slot)) continue;
    if (before == Slot::lent) unslotted_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  const auto give = [&](auto&& fits) {
    for (int i = 0; i < count; ++i) {
      Carrier& carrier = *p.carrier(i);
      int none = Slot::none;
      if (!worker_could_use(p, carrier) || !fits(carrier) || !carrier.slot.compare_exchange_strong(none, slot))
        continue;
      call_to_work(&carrier);
      return true;
    }
    return false;
  };
  // First to a carrier that finds work in its sight: the work may be for carriers of some NUMA nodes only.
  if (p.nodes.several() && give([](Carrier& carrier) { return work_in_lists(&carrier, false); })) return true;
  return give([](const Carrier&) { return true; });
}

int NodeBudget::count_missing(const Pool& p, const node::Process& process) const noexcept {
  int running = waiting_roots_.load(std::memory_order_relaxed);
  // The worker at the door is awake, and has no slot yet.
  running += at_door_.load(std::memory_order_relaxed) ? 1 : 0;
  int workers = 0;
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *p.carrier(i);
    running += root_lacks_slot(carrier) || worker_lacks_slot(p, carrier) ? 1 : 0;
    workers += worker_could_use(p, carrier) ? 1 : 0;
  }
  const int wanted = running + (workers > 0 ? std::min(workers, pending_work(p)) : 0);
  return std::clamp(process.most() - process.held(), 0, wanted);
}

}  // namespace weft::core
