// SPDX-License-Identifier: Apache-2.0
// The one pool of a process. Internal to core.
#pragma once

#include <algorithm>
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
#include "core/sched/numa_nodes.h"
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
  // Whether there are more slots than CPUs, by WEFT_NUM_CPUS: then carriers take CPUs from each other, as the user
  // wants.
  const int machine_cpus = platform::cpus_of_machine();
  const bool shares_its_cpus = settings.slots > machine_cpus;
  // The signal mask of the thread that needed the pool first. Workers begin with it, whichever thread makes them: the
  // monitor, which makes some, has all signals blocked.
  sigset_t signal_mask;
  platform::FutexLock lock;  // guards the growth of `carriers`; `contexts`, `worker_stacks` and `spare_roots`
  CarrierTable<kMaxCarriers> carriers;
  std::atomic<int> carrier_count{0};
  // The carriers that are workers, by their number.
  CarrierTable<kMaxWorkers> workers;
  std::atomic<int> worker_count{0};
  Carrier* spare_roots = nullptr;
  Carrier* spare_unlisted = nullptr;  // carriers that the table had no room for
  ContextPool contexts;
  WorkerStacks worker_stacks;

  // Relaxed reads everywhere: a worker that acts on an old value runs a moment longer or later.
  alignas(64) std::atomic<int> active_roots{0};  // roots that hold slots; guests count as such, and CPUs held back
  std::atomic<int> guest_slots{0};  // how many of these are guests' (core/budget/guests.h)
  std::atomic<int> held_back{0};  // how many are nobody's: they lack a token of make's (core/budget/jobserver.h)
  std::atomic<int> lent{0};  // OS threads beyond the slots, lent by the monitor
  std::atomic<int> lent_to_gangs{0};
  std::atomic<int> lent_to_regions{0};  // OS threads lent to regions that are gangs (core/sched/gang_regions.h)
  std::atomic<int> gang_calls{0};  // calls that gangs have announced and that have not begun
  std::atomic<uint32_t> gangs{0};  // gangs that have announced calls; relaxed: the monitor asks whether there were any
  // Why carriers must look twice (Gate); always 0 in a process that does not share the node.
  std::atomic<uint32_t> gate{0};

  // Carriers, by their index, that look for work or sleep until there is some. A thread that wakes a carrier takes it
  // out: the next piece of work wakes another one.
  static constexpr int kIdlePerLine = 16;
  ClaimSet<kMaxCarriers, kIdlePerLine> idle;
  WaitingSet<kMaxCarriers> waiting;  // carriers whose context has been spinning for a while
  // The NUMA nodes of the carriers. With few slots they are not worth a look at /sys: then there is one node.
  CarrierNumaNodes<kMaxCarriers> nodes{settings.slots > kNearSlots ? highest_numa_node() : 0};
  alignas(64) std::atomic<uint64_t> compensations{0};
  std::atomic<uint64_t> regions_lent{0};  // how often; relaxed, for statistics
  NodeBudget node;
  GuestCarriers guest_carriers;
  Surplus surplus;
  // Whether the process is ending: then what thread-local objects of other threads need may be gone at any moment.
  // Relaxed: it is a hint.
  std::atomic<bool> exits{false};
  // Whether the program has locked its memory, also what is not mapped yet. It is found out when workers are made.
  // Relaxed: it is a hint.
  std::atomic<bool> memory_is_locked{false};

  Lateness lateness;  // how late threads of any carriers come to their CPUs

  // How long a waiter spins; programs may change it. Relaxed: a wait more or less goes by the old value.
  std::atomic<long> spin_ns;

  // How many roots that have opened regions have ended. Relaxed: the monitor is woken after the count.
  std::atomic<uint32_t> roots_ended{0};

  // Counts the requests of release_idle.cpp; its lowest bits say what the last request wants.
  std::atomic<uint32_t> release_requests{0};
  // The last request after which no context that was born before it is handed out. Relaxed, as above.
  std::atomic<uint32_t> contexts_since{0};

  // How many workers may run. Workers give way to roots: together they are no more than the slots and the lent threads.
  int worker_limit() const noexcept { return free_limit() + lent_to_regions.load(std::memory_order_relaxed); }
  bool allowed(const Carrier* carrier) const noexcept {
    return (__builtin_expect(has_slot(carrier), 1) || carrier->worker < worker_limit()) && admitted(carrier);
  }
  // Whether the carrier may run and do any work, without a look at what is lent: nearly always so.
  bool has_slot(const Carrier* carrier) const noexcept {
    return carrier->worker < settings.slots - active_roots.load(std::memory_order_relaxed);
  }
  bool admitted(const Carrier* carrier) const noexcept {
    return gate.load(std::memory_order_relaxed) == 0 || node.admitted(*this, carrier);
  }

  // Whether the carrier may do the work. A thread that is lent to regions does nothing else: other work waits for a
  // slot.
  bool may_do(const Carrier* carrier, const ParallelCall* work) const noexcept {
    return has_slot(carrier) || carrier->worker < free_limit() ||
           (work != nullptr && work->gang.load(std::memory_order_relaxed));
  }
  // A carrier of another NUMA node leaves a parallel call to carriers of the call's nodes, unless all members have to
  // run at the same time. Relaxed: a value that is seen late sends a carrier away once, or brings one of another node.
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
  // Whether the carrier may run and do the work, wherever that is; nearly always it is a worker that may do any work.
  bool allowed_for(const Carrier* carrier, const ParallelCall* work) const noexcept {
    return __builtin_expect(has_slot(carrier), 1) ? admitted(carrier) : allowed_as_lent(carrier, work);
  }
  [[gnu::cold, gnu::noinline]] bool allowed_as_lent(const Carrier* carrier, const ParallelCall* work) const noexcept {
    return may_do(carrier, work) && allowed(carrier);
  }
  bool is_oversubscribed() const noexcept { return lent_to_regions.load(std::memory_order_relaxed) > 0; }

  // Whether a carrier that spins may keep the thread that it waits for from its CPU.
  bool is_crowded() const noexcept {
    return shares_its_cpus && worker_count.load(std::memory_order_relaxed) >= machine_cpus;
  }

  // A thread that is lent to a gang and is not needed must not take a CPU from the gang's members, and a carrier
  // without work must not take one from another process. Threads that are lent to regions run by the kernel's
  // preemption when they wake up: no other carrier is to look for work beside them.
  bool may_spin(const Carrier* carrier) const noexcept {
    return carrier->worker < unlent_limit() && gate.load(std::memory_order_relaxed) == 0 && !is_oversubscribed() &&
           !is_crowded();
  }

  // How many workers may do any work.
  int free_limit() const noexcept { return unlent_limit() + lent_to_gangs.load(std::memory_order_relaxed); }

  int unlent_limit() const noexcept {
    const int left = settings.slots - active_roots.load(std::memory_order_relaxed);
    return (left > 0 ? left : 0) + lent.load(std::memory_order_relaxed);
  }

  // How many workers could still be made.
  int unmade_workers() const noexcept {
    const int limit = unlent_limit() < settings.slots - 1 ? unlent_limit() : settings.slots - 1;
    const int made = worker_count.load(std::memory_order_relaxed);
    return limit > made ? limit - made : 0;
  }

  // Whether no carrier looks for work, or sleeps until there is some, uncalled: a hint.
  bool none_idle() const noexcept { return idle.empty(carrier_count.load(std::memory_order_relaxed)); }
  // Whether a carrier spins that could be asked to do something else: a hint, for a caller that has fenced.
  bool any_waiting() const noexcept { return waiting.any(carrier_count.load(std::memory_order_relaxed)); }
  bool is_idle(const Carrier* carrier) const noexcept { return carrier->is_listed() && idle.has(carrier->index); }

  Carrier* carrier(int index) const noexcept { return carriers.get(index); }
  Carrier* worker(int number) const noexcept { return workers.get(number); }
};

// The pool; null before start(). Replaced in the child of a fork.
extern std::atomic<Pool*> g_pool;
inline Pool& pool() noexcept { return *g_pool.load(std::memory_order_acquire); }

}  // namespace weft::core
