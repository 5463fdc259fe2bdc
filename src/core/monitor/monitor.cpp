// SPDX-License-Identifier: Apache-2.0
// The monitor: an OS thread that ticks while roots hold slots. It takes slots back from roots that have
// gone on to other things, and lends OS threads when work waits and nobody comes to fetch it: members
// that spin on each other or sit in the kernel must not stop those that could release them.
#include <algorithm>
#include <climits>
#include <new>

#include "base/message.h"
#include "core/budget/guests.h"
#include "core/budget/jobserver.h"
#include "core/monitor/cpu_contention.h"
#include "core/monitor/cpu_load.h"
#include "core/monitor/cpu_turns.h"
#include "core/monitor/inspection.h"
#include "core/monitor/pi_mutex_watch.h"
#include "core/monitor/root_ends.h"
#include "core/monitor/root_watch.h"
#include "core/monitor/stalls.h"
#include "core/monitor/ticks.h"
#include "core/sched/carrier_binding.h"
#include "core/sched/polling.h"
#include "core/sched/pool.h"
#include "core/sched/upcalls.h"
#include "core/sched/waking.h"
#include "core/sched/watcher.h"
#include "platform/fence.h"
#include "platform/futex.h"
#include "platform/service_call.h"
#include "platform/service_thread.h"
#include "platform/time_slice.h"

namespace weft::core {

namespace {

constexpr long kTickNs = 5'000'000;
constexpr int kTicksToLookForLocks = 200;

// Polling services are other libraries' code.
constexpr size_t kStackSize = 1u << 20;

std::atomic<uint32_t> g_awake{0};
std::atomic<uint32_t> g_ready{0};  // 1: the monitor has joined the node if it was to, or there is no monitor
platform::ServiceCall g_call;
std::atomic<bool> g_there{false};  // relaxed: a thread that sees it late does without a monitor for a while

class Monitor {
 public:
  explicit Monitor(Pool* p) noexcept : pool_(*p), stalls_(*p) {}

  // Returns false when there is nothing to watch any more.
  bool tick() noexcept {
    roots_.tick(pool_);
    idle_cpus_.tick(pool_);
    contention_.tick(pool_);
    tick_guests(pool_);
    tick_job_tokens(pool_);
    tick_watcher();
    help_gangs();
    stalls_.tick();
    turns_.tick(pool_);
    if (++ticks_ % kTicksToLookForLocks == 0) locks_.look(pool_);
    root_ends_.tick(pool_);
    pool_.surplus.tick(pool_);
    return identities_may_end() || polls() || roots_.need_ticks() || roots_at_work() || guests_need_ticks(pool_) ||
           idle_cpus_watched() || ticks_watched() || job_tokens_need_ticks();
  }

  bool identities_may_end() const noexcept { return root_ends_.need_ticks(pool_); }

  // Sleeps until wake_monitor(), and sees to nothing but the surplus contexts.
  void rest() noexcept {
    while (g_awake.load(std::memory_order_acquire) == 0) {
      if (pool_.surplus.any(pool_)) {
        await_call(pool_.surplus.pause_ns());
        pool_.surplus.tick(pool_);
      } else {
        await_call(-1);
      }
    }
  }

  // Sleeps for a part of a tick.
  void pause(int64_t ns) noexcept {
    if (!pool_.node.on()) return await_call(ns);
    pool_.node.rest(pool_, ns);
    await_call(0);
  }

  // How long until the next tick, or the next look in between.
  int64_t rest_ns() const noexcept { return std::min<int64_t>(kTickNs, stalls_.period_ns()); }
  bool looks_in_between() const noexcept { return stalls_.probing(); }
  void look() noexcept { stalls_.look(); }

 private:
  // Sleeps until the monitor is called, or that many nanoseconds have passed; below 0: without a limit.
  static void await_call(int64_t ns) noexcept {
    const pid_t caller = g_call.await(ns);
    if (caller != 0 && caller != getpid()) answer_inspector(caller);
  }

  // Lends threads where the carriers that a gang had counted on have found something else to do. It does so without any
  // patience, since the gang's other members spin.
  void help_gangs() noexcept {
    const int calls = pool_.gang_calls.load(std::memory_order_relaxed);
    const int waited = std::min(calls, gang_calls_before_);
    gang_calls_before_ = calls;
    if (waited <= pool_.lent.load(std::memory_order_relaxed)) return;
    pool_.compensations.fetch_add(static_cast<uint64_t>(waited), std::memory_order_relaxed);
    pool_.lent.store(waited, std::memory_order_relaxed);
    stalls_.keep_lent();
    grow_workers(std::min(pool_.worker_limit(), kMaxWorkers));
    for (int i = 0; i < waited; ++i) notify({});
  }

  Pool& pool_;
  Stalls stalls_;
  unsigned ticks_ = 0;
  PiWatch locks_;
  int gang_calls_before_ = 0;
  RootWatch roots_;
  RootEnds root_ends_;
  IdleCpus idle_cpus_;
  CpuContention contention_;
  CpuTurns turns_;
};

// Sleeps until the next tick; looks and polls in between where something must not wait for that.
void sleep_a_tick(Monitor& monitor) noexcept {
  int64_t left = kTickNs;
  while (monitor.looks_in_between() || monitor_polls()) {
    int64_t rest = monitor.rest_ns();
    if (monitor_polls()) rest = std::min(rest, kPollingFloorNs);
    if (rest >= left) break;
    monitor.pause(rest);
    left -= rest;
    if (monitor.looks_in_between()) monitor.look();
    poll_if_nobody_has();
  }
  monitor.pause(left);
  poll_if_nobody_has();
}

void monitor_is_ready() noexcept {
  g_ready.store(1, std::memory_order_release);
  platform::futex_wake(g_ready, INT_MAX);
}

void* monitor_main(void* argument) {
  auto* monitor = static_cast<Monitor*>(argument);
  Pool& p = pool();
  g_call.begin(p.settings.inspection.allowed);
  platform::name_service_thread(kMonitorName);
  p.node.join(p.settings);
  g_there.store(true, std::memory_order_relaxed);
  monitor_is_ready();
  use_all_cpus();
  platform::ask_for_short_time_slices();
  for (;;) {
    sleep_a_tick(*monitor);
    if (p.node.leave_if_asked(p)) continue;
    p.node.tick(p);
    if (monitor->tick() || p.node.waiting(p)) continue;
    // A root that takes a slot counts itself and then wakes the monitor; so does a carrier that waits for a slot of the
    // node. One that came before this store is seen by the second look below.
    g_awake.store(0, std::memory_order_release);
    platform::full_fence();
    if (roots_at_work() || guests_need_ticks(p) || p.node.waiting(p) || idle_cpus_watched() || ticks_watched() ||
        polls() || monitor->identities_may_end() || job_tokens_need_ticks()) {
      g_awake.store(1, std::memory_order_relaxed);
      continue;
    }
    p.node.tell_pending();
    monitor->rest();
  }
}

}  // namespace

void start_monitor() noexcept {
  let_be_inspected();
  g_awake.store(1);
  // Without a monitor, too, programs end, unless their members spin on each other.
  // The caller allocates the record, since what another thread allocates takes an area of memory of its own: 64 MiB of
  // addresses, which count where the program has locked its memory.
  static Monitor* monitor;
  monitor = new (std::nothrow) Monitor(&pool());
  const bool there = monitor != nullptr && platform::start_service_thread(monitor_main, monitor, kStackSize);
  if (!there) {
    leave_jobserver();
    monitor_is_ready();
  }
  if (!NodeBudget::wanted(pool().settings)) return;
  if (!there) base::warn("WEFT_NODE: no thread can be made; this process does not share its CPUs with others");
  await_monitor();
}

void await_monitor() noexcept {
  // Acquire: what the monitor has found out when it joined the node is seen.
  while (g_ready.load(std::memory_order_acquire) == 0) platform::futex_wait(g_ready, 0);
}

bool has_monitor() noexcept { return g_there.load(std::memory_order_relaxed); }

void forget_monitor() noexcept {
  g_call.forget();
  forget_inspectors();
  forget_cpu_turns();
  g_there.store(false, std::memory_order_relaxed);
  g_ready.store(0, std::memory_order_relaxed);
}

void wake_monitor() noexcept {
  if (g_awake.exchange(1) == 0) g_call.call();
}

}  // namespace weft::core
