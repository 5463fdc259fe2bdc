// SPDX-License-Identifier: Apache-2.0
// The one pool of a process. Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include <signal.h>

#include "core/context/context_pool.h"
#include "core/context/worker_stacks.h"
#include "core/sched/carrier.h"
#include "core/sched/carrier_table.h"
#include "core/sched/claim_set.h"
#include "core/sched/guest_slots.h"
#include "core/sched/lateness.h"
#include "core/sched/node_budget.h"
#include "core/sched/nodes.h"
#include "core/sched/settings.h"
#include "core/sched/surplus.h"
#include "core/sched/waiting_set.h"
#include "platform/futex_lock.h"
#include "platform/thread_state.h"

namespace weft::core {

struct Pool {
  explicit Pool(const Settings& wanted) noexcept
      : settings(wanted), contexts(wanted.stack_size), spin_ns(wanted.spin_ns) {
    pthread_sigmask(SIG_SETMASK, nullptr, &signal_mask);
  }

  static constexpr int kNearSlots = 4;

  const Settings settings;
  // More slots than CPUs, by WEFT_NUM_CPUS: carriers take CPUs from each other, as they have been told to.
  const int machine_cpus = platform::cpus_of_machine();
  const bool shares_its_cpus = settings.slots > machine_cpus;
  // Of the thread that needed the pool first. Workers begin with it, whichever thread makes them: the monitor, which
  // lends some, has all signals blocked.
  sigset_t signal_mask;
  platform::FutexLock lock;  // of the growth of `carriers`, of `contexts`, `worker_stacks` and `spare_roots`
  CarrierTable<kMaxCarriers> carriers;
  std::atomic<int> carrier_count{0};
  // Those of them that are workers, by their number.
  CarrierTable<kMaxWorkers> workers;
  std::atomic<int> worker_count{0};
  Carrier* spare_roots = nullptr;
  Carrier* spare_unlisted = nullptr;  // carriers that the table had no room for
  ContextPool contexts;
  WorkerStacks worker_stacks;

  // Relaxed reads everywhere: a worker that acts on an old value runs a moment longer or later.
  alignas(64) std::atomic<int> active_roots{0};  // that hold slots; guests count as such
  std::atomic<int> guest_slots{0};               // of them: guests' (core/budget/guests.h)
  std::atomic<int> lent{0};  // OS threads beyond the slots, lent by the monitor
  std::atomic<int> lent_to_gangs{0};
  std::atomic<int> lent_to_regions{0};  // that are gangs although nobody has said so (core/sched/gang_regions.h)
  std::atomic<int> gang_calls{0};  // announced by gangs, and not begun yet
  std::atomic<uint32_t> gangs{0};  // that have announced some; relaxed: the monitor asks whether there were any
  // Why carriers must look twice (Gate). 0 for ever in a process that does not share the node.
  std::atomic<uint32_t> gate{0};

  // Carriers, by their index, that look for work or sleep until there is some. The thread that wakes one takes it out:
  // the next piece of work then wakes another.
  static constexpr int kIdlePerLine = 16;
  ClaimSet<kMaxCarriers, kIdlePerLine> idle;
  WaitingSet<kMaxCarriers> waiting;  // carriers whose context has been spinning for a while
  // For few threads it is not worth a look at /sys.
  CarrierNodes<kMaxCarriers> nodes{settings.slots > kNearSlots ? highest_numa_node() : 0};
  alignas(64) std::atomic<uint64_t> compensations{0};
  std::atomic<uint64_t> regions_lent{0};  // how often; relaxed, for statistics
  NodeBudget node;
  GuestCarriers guest_carriers;
  Surplus surplus;
  // The process ends: what the thread-local objects of others need may be gone any moment. Relaxed, a hint.
  std::atomic<bool> exits{false};
  // By the program, also what is not mapped yet; seen when workers are made. Relaxed, a hint.
  std::atomic<bool> memory_is_locked{false};

  Lateness lateness;  // of any carrier

  // How long a waiter looks; programs may change it. Relaxed: a wait more or less goes by the old value.
  std::atomic<long> spin_ns;

  // How many roots that have opened regions have left; the monitor is woken behind it. Relaxed, but for that.
  std::atomic<uint32_t> roots_ended{0};

  // Counts the requests of release_idle.cpp; its lowest bits say what the last one wants.
  std::atomic<uint32_t> release_requests{0};
  // The last of them behind which what has been born before is not handed out any more. Relaxed, as above.
  std::atomic<uint32_t> contexts_since{0};

  // Workers give way to roots: together they are no more than the slots, and what the monitor lends.
  int worker_limit() const noexcept { return free_limit() + lent_to_regions.load(std::memory_order_relaxed); }
  bool allowed(const Carrier* carrier) const noexcept {
    return (__builtin_expect(has_slot(carrier), 1) || carrier->worker < worker_limit()) && admitted(carrier);
  }
  // Whether it may run, and do whatever there is, without a look at what is lent: nearly always so.
  bool has_slot(const Carrier* carrier) const noexcept {
    return carrier->worker < settings.slots - active_roots.load(std::memory_order_relaxed);
  }
  bool admitted(const Carrier* carrier) const noexcept {
    return gate.load(std::memory_order_relaxed) == 0 || node.admitted(*this, carrier);
  }

  // A thread that is lent to regions does nothing else: the work of others waits for a CPU of its own.
  bool may_do(const Carrier* carrier, const ParallelCall* work) const noexcept {
    return has_slot(carrier) || carrier->worker < free_limit() ||
           (work != nullptr && work->gang.load(std::memory_order_relaxed));
  }
  // A carrier of another NUMA node than the call's leaves it to those of its nodes, unless all of its members have to
  // run at the same time. Relaxed: what is seen late sends a carrier away once, or brings one of another node.
  bool is_on_nodes_of(const ParallelCall* work, const Carrier* carrier) const noexcept {
    return !nodes.several() || work == nullptr || work->nodes.load(std::memory_order_relaxed) == 0 ||
           is_on_given_nodes(*work, carrier);
  }
  [[gnu::noinline]] bool is_on_given_nodes(const ParallelCall& work, const Carrier* carrier) const noexcept {
    const int node = carrier->is_listed() ? nodes.of(carrier->index) : -1;
    return node < 0 || (node < 64 && (work.nodes.load(std::memory_order_relaxed) >> node & 1) != 0) ||
           work.gang.load(std::memory_order_relaxed);
  }
  // Whether the call is to be done at the carrier's place. Relaxed: both are hints.
  static bool is_at_places_of(const ParallelCall* work, const Carrier* carrier) noexcept {
    const Places places = work->places.load(std::memory_order_relaxed);
    return !places.any() || places.has(carrier->place.load(std::memory_order_relaxed));
  }
  // Whether it may run and do that, wherever; nearly always it is a worker that may do whatever there is.
  bool allowed_for(const Carrier* carrier, const ParallelCall* work) const noexcept {
    return __builtin_expect(has_slot(carrier), 1) ? admitted(carrier) : allowed_as_lent(carrier, work);
  }
  [[gnu::cold, gnu::noinline]] bool allowed_as_lent(const Carrier* carrier, const ParallelCall* work) const noexcept {
    return may_do(carrier, work) && allowed(carrier);
  }
  bool is_oversubscribed() const noexcept { return lent_to_regions.load(std::memory_order_relaxed) > 0; }

  // Who spins keeps the thread that it waits for from its CPU.
  bool is_crowded() const noexcept {
    return shares_its_cpus && worker_count.load(std::memory_order_relaxed) >= machine_cpus;
  }

  // What has been lent to a gang and is not needed must not take the CPU from the gang's members, nor a
  // carrier that has nothing to do from another process. Where regions have been lent threads, these come by the
  // kernel's preemption when they wake up: nobody else is to look for work beside them.
  bool may_spin(const Carrier* carrier) const noexcept {
    return carrier->worker < unlent_limit() && gate.load(std::memory_order_relaxed) == 0 && !is_oversubscribed() &&
           !is_crowded();
  }

  // Workers that may do whatever there is.
  int free_limit() const noexcept { return unlent_limit() + lent_to_gangs.load(std::memory_order_relaxed); }

  int unlent_limit() const noexcept {
    const int left = settings.slots - active_roots.load(std::memory_order_relaxed);
    return (left > 0 ? left : 0) + lent.load(std::memory_order_relaxed);
  }

  // Those that nobody has needed yet.
  int unmade_workers() const noexcept {
    const int limit = unlent_limit() < settings.slots - 1 ? unlent_limit() : settings.slots - 1;
    const int made = worker_count.load(std::memory_order_relaxed);
    return limit > made ? limit - made : 0;
  }

  // Whether it looks for work, or sleeps until there is some, and nobody has called it: a hint.
  bool none_idle() const noexcept { return idle.empty(carrier_count.load(std::memory_order_relaxed)); }
  // Whether somebody spins who could be asked for something else: a hint, behind a fence.
  bool any_waiting() const noexcept { return waiting.any(carrier_count.load(std::memory_order_relaxed)); }
  bool is_idle(const Carrier* carrier) const noexcept { return carrier->is_listed() && idle.has(carrier->index); }

  Carrier* carrier(int index) const noexcept { return carriers.get(index); }
  Carrier* worker(int number) const noexcept { return workers.get(number); }
};

// The pool; null before start(). Replaced in the child of a fork.
extern std::atomic<Pool*> g_pool;
inline Pool& pool() noexcept { return *g_pool.load(std::memory_order_acquire); }

}  // namespace weft::core
