// SPDX-License-Identifier: Apache-2.0
// The monitor: an OS thread that ticks while roots hold slots. It takes slots back from roots that have
// gone on to other things, and lends OS threads when work waits and nobody comes to fetch it: members
// that spin on each other or sit in the kernel must not stop those that could release them.
#include <algorithm>
#include <climits>
#include <ctime>
#include <new>

#include "base/message.h"
#include "core/crowding.h"
#include "core/guests.h"
#include "core/idle_cpus.h"
#include "core/pi_watch.h"
#include "core/pool.h"
#include "core/root_watch.h"
#include "core/service_thread.h"
#include "core/surplus.h"
#include "core/ticks.h"
#include "platform/fence.h"
#include "platform/futex.h"
#include "platform/time_slice.h"

namespace weft::core {

namespace {

constexpr long kTickNs = 5'000'000;
constexpr int kTicksToKeepLent = 100;
// Somebody sits in the kernel, and nothing is lent yet.
constexpr int kTicksAsleep = 2;
constexpr int kTicksForItsWorker = 40;
constexpr int kTicksToLookForLocks = 200;

// Carriers that run may be computing, and lending to them costs time slices. So it waits until each of them has
// used this much CPU time while nothing moved; real time says little on a busy machine. Where threads are lent
// already, the program is one that needs them.
constexpr int64_t kPatienceNs = 200'000'000;
constexpr int64_t kPatienceOnceLentNs = 10'000'000;

// After so many ticks without a way on, when the system refuses threads, the program is told.
constexpr int kTicksToGiveUp = 1000;
// The same where carriers run: members that wait for others without a call. In CPU time of each, as far as there are
// slots.
constexpr int64_t kHopelessNs = 3'000'000'000;

std::atomic<uint32_t> g_awake{0};
std::atomic<uint32_t> g_ready{0};  // the monitor has joined the node, or it is not to
std::atomic<bool> g_there{false};  // relaxed: who sees it late does without for a while

// What one tick remembers of a carrier for the next.
struct Seen {
  bool ready_waited = false;
  const Context* root_waited = nullptr;
  uint64_t root_switches = 0;
  uint32_t ready_taken = 0;
  int bodiless_ticks = 0;
  std::array<uint64_t, kOpenBundles> claims{};
};

class Monitor {
 public:
  explicit Monitor(Pool* p) noexcept : pool_(*p) {}

  // False when there is nothing to watch any more.
  bool tick() noexcept {
    const int count = pool_.carrier_count.load(std::memory_order_acquire);
    roots_.tick(pool_);
    idle_cpus_.tick(pool_);
    crowding_.tick(pool_);
    tick_guests(pool_);
    tick_watcher();
    help_gangs();
    const int waiting = count_stalled(count);
    if (waiting > 0) {
      if (stalled_ticks_++ == 0) stalled_since_ = platform::cpu_time_ns();
      calm_ticks_ = 0;
      lend(count, waiting);
    } else {
      stalled_ticks_ = 0;
      asleep_ticks_ = 0;
      patience_over_ = false;
      if (++calm_ticks_ >= kTicksToKeepLent) pool_.lent.store(0, std::memory_order_relaxed);
    }
    if (++ticks_ % kTicksToLookForLocks == 0) locks_.look(pool_);
    surplus_.tick(pool_);
    return roots_.need_ticks() || roots_at_work() || guests_need_ticks(pool_) || idle_cpus_watched() || ticks_watched();
  }

  // Nothing else is to watch, until g_awake.
  void rest() noexcept {
    while (g_awake.load(std::memory_order_acquire) == 0) {
      if (surplus_.any(pool_)) {
        platform::futex_wait_for(g_awake, 0, Surplus::kPeriodNs);
        surplus_.tick(pool_);
      } else {
        platform::futex_wait(g_awake, 0);
      }
    }
  }

 private:
  Seen& seen(int index) noexcept {
    if (seen_[index] == nullptr) seen_[index] = new (std::nothrow) Seen;
    static Seen spare;
    return seen_[index] != nullptr ? *seen_[index] : spare;
  }

  // The carriers that a gang has counted on have found something else to do. Its other members spin, so this is no case
  // for patience.
  void help_gangs() noexcept {
    const int calls = pool_.gang_calls.load(std::memory_order_relaxed);
    const int waited = std::min(calls, gang_calls_before_);
    gang_calls_before_ = calls;
    if (waited <= pool_.lent.load(std::memory_order_relaxed)) return;
    pool_.compensations.fetch_add(static_cast<uint64_t>(waited), std::memory_order_relaxed);
    pool_.lent.store(waited, std::memory_order_relaxed);
    calm_ticks_ = 0;
    grow_workers(std::min(pool_.worker_limit(), kMaxWorkers));
    for (int i = 0; i < waited; ++i) notify(nullptr);
  }

  // Calls and contexts that have waited for a whole tick where nobody has taken anything.
  int count_stalled(int count) noexcept {
    int waiting = 0;
    for (int i = 0; i < count; ++i) {
      Carrier* carrier = pool_.carrier(i);
      Seen& before = seen(i);
      waiting += stalled_contexts(*carrier, before) + (root_stalled(*carrier, before) ? 1 : 0);
      waiting += stalled_calls(*carrier, before);
    }
    return waiting;
  }

  static int stalled_contexts(Carrier& carrier, Seen& before) noexcept {
    const int ready = carrier.ready.size() + (is_late(carrier, before) ? 1 : 0);
    const uint32_t taken = carrier.ready.taken();
    const bool stalled = ready > 0 && before.ready_waited && taken == before.ready_taken;
    before.ready_waited = ready > 0;
    before.ready_taken = taken;
    carrier.stuck.store(stalled, std::memory_order_relaxed);
    return stalled ? ready : 0;
  }

  // A worker has its own identity for what has been left to it, so its thread may take a while to come.
  static bool is_late(Carrier& carrier, Seen& before) noexcept {
    const bool waits = carrier.bodiless_ready.load(std::memory_order_relaxed) != nullptr;
    before.bodiless_ticks = waits ? before.bodiless_ticks + 1 : 0;
    const bool late = before.bodiless_ticks > kTicksForItsWorker;
    carrier.late.store(late, std::memory_order_relaxed);
    return late;
  }

  bool root_stalled(Carrier& carrier, Seen& before) noexcept {
    const Context* root = carrier.root_ready.load(std::memory_order_relaxed);
    const uint64_t switches = carrier.statistics.switches.get();
    const bool stalled = root != nullptr && root == before.root_waited && switches == before.root_switches;
    before.root_waited = root;
    before.root_switches = switches;
    carrier.abandoned.store(stalled && (asleep_in_kernel(carrier) || patience_is_over()), std::memory_order_relaxed);
    return stalled;
  }

  static int stalled_calls(const Carrier& carrier, Seen& before) noexcept {
    int waiting = 0;
    const int top = std::min(carrier.open_top.load(std::memory_order_acquire), kOpenBundles);
    for (int k = 0; k < kOpenBundles; ++k) {
      const Bundle* bundle = k < top ? carrier.open[k].load(std::memory_order_acquire) : nullptr;
      const uint64_t claim =
          bundle != nullptr && bundle->claimable() ? bundle->claim.load(std::memory_order_relaxed) : 0;
      if (claim != 0 && claim == before.claims[k]) {
        waiting += bundle->unclaimed();
      }
      before.claims[k] = claim;
    }
    return waiting;
  }

  // What the carriers are at: asleep in a system call, or running; those that look for work or are to come first.
  struct Crowd {
    int asleep = 0;
    int running = 0;
    int idle = 0;
  };
  Crowd look(int count) const noexcept {
    Crowd crowd;
    for (int i = 0; i < count; ++i) {
      const Carrier& carrier = *pool_.carrier(i);
      if (carrier.is_root() ? !carrier.holds_slot.load(std::memory_order_relaxed) : !pool_.allowed(&carrier)) continue;
      if (pool_.is_idle(&carrier)) {
        crowd.idle += carrier.is_root() ? 0 : 1;
      } else if (asleep_in_kernel(carrier)) {
        // Between regions it is RootWatch that decides whether its slot is to be had.
        crowd.asleep += carrier.is_root() && carrier.regions_open.load(std::memory_order_relaxed) == 0 ? 0 : 1;
      } else {
        ++crowd.running;
      }
    }
    return crowd;
  }

  bool patience_is_over() const noexcept { return patience_over_; }

  void lend(int count, int waiting) noexcept {
    const int lent = pool_.lent.load(std::memory_order_relaxed);
    const Crowd crowd = look(count);
    const int64_t each = lent > 0 ? kPatienceOnceLentNs : kPatienceNs;
    // Guests use CPU time of the process too; but they may as well be asleep.
    const int guests = pool_.guest_slots.load(std::memory_order_relaxed);
    const int running = crowd.running + std::min(crowd.running, guests);
    patience_over_ = platform::cpu_time_ns() - stalled_since_ > each * std::max(1, running);
    // Those that wait decide how many can be of use: an idle worker that is allowed will come for them anyway.
    int wanted = lent;
    // One look may meet a thread that waits for a page or a lock of the allocator's.
    asleep_ticks_ = crowd.asleep > lent ? asleep_ticks_ + 1 : 0;
    if (crowd.idle == 0) {
      if (asleep_ticks_ >= (lent > 0 ? 1 : kTicksAsleep)) wanted = std::min(crowd.asleep, lent + waiting);
      if (patience_over_) wanted = std::max(wanted, std::min(std::max(1, 2 * lent), lent + waiting));
    }
    if (wanted > lent) {
      pool_.lent.store(wanted, std::memory_order_relaxed);
      const int limit = std::min(pool_.worker_limit(), kMaxWorkers);
      grow_workers(limit);
      // What the system refuses is not lent: patience does not begin anew with it.
      const int refused = limit - pool_.worker_count.load(std::memory_order_relaxed);
      if (refused > 0) pool_.lent.store(wanted = std::max(lent, wanted - refused), std::memory_order_relaxed);
      if (wanted > lent) stalled_since_ = platform::cpu_time_ns();
      pool_.compensations.fetch_add(static_cast<uint64_t>(wanted - lent), std::memory_order_relaxed);
    }
    // Idle workers may have become allowed; they look for work of any root.
    for (int i = 0; i < std::min(waiting, pool_.worker_limit()); ++i) notify(nullptr);
    const bool in_vain = crowd.running == 0 ? stalled_ticks_ > kTicksToGiveUp
                                            : platform::cpu_time_ns() - stalled_since_ >
                                                  kHopelessNs * std::min(running, pool_.settings.slots);
    if (in_vain && crowd.idle == 0 && pool_.contexts.refused()) {
      base::lacking(
          "the system refuses the threads that the program needs to go on (see ulimit -u, -v); "
          "ask for fewer with OMP_NUM_THREADS");
    }
  }

  Pool& pool_;
  std::array<Seen*, kMaxCarriers> seen_{};
  int stalled_ticks_ = 0;
  int64_t stalled_since_ = 0;  // in CPU time of the process
  bool patience_over_ = false;
  int asleep_ticks_ = 0;
  int calm_ticks_ = 0;
  unsigned ticks_ = 0;
  PiWatch locks_;
  int gang_calls_before_ = 0;
  RootWatch roots_;
  IdleCpus idle_cpus_;
  Crowding crowding_;
  Surplus surplus_;
};

void sleep_a_tick(Pool& p) noexcept {
  if (p.node.on()) {
    p.node.rest(p, kTickNs);
  } else {
    const timespec tick{0, kTickNs};
    nanosleep(&tick, nullptr);
  }
}

void monitor_is_ready() noexcept {
  g_ready.store(1, std::memory_order_release);
  platform::futex_wake(g_ready, INT_MAX);
}

void* monitor_main(void* argument) {
  Pool& p = *static_cast<Pool*>(argument);
  static Monitor* monitor;
  monitor = new (std::nothrow) Monitor(&p);
  if (monitor != nullptr && p.settings.node.on) p.node.join(p.settings);
  g_there.store(monitor != nullptr, std::memory_order_relaxed);
  monitor_is_ready();
  if (monitor == nullptr) return nullptr;
  use_all_cpus();
  platform::ask_for_short_time_slices();
  for (;;) {
    sleep_a_tick(p);
    if (p.node.on()) {
      if (p.node.leave_if_asked(p)) continue;
      p.node.tick(p);
    }
    if (monitor->tick() || p.node.waiting(p)) continue;
    // A root that takes a slot wakes us after it has counted itself; so does one that came meanwhile. So do carriers
    // that wait for a slot of the node.
    g_awake.store(0, std::memory_order_relaxed);
    platform::full_fence();
    if (roots_at_work() || guests_need_ticks(p) || p.node.waiting(p) || idle_cpus_watched() || ticks_watched()) {
      g_awake.store(1, std::memory_order_relaxed);
      continue;
    }
    monitor->rest();
  }
}

}  // namespace

void start_monitor() noexcept {
  g_awake.store(1);
  // Without a monitor all but programs whose members spin on each other still end.
  const bool there = start_service_thread(monitor_main, &pool(), 256u << 10);
  if (!there) monitor_is_ready();
  if (!pool().settings.node.on) return;
  if (!there) base::warn("WEFT_NODE: no thread can be made; this process does not share its CPUs with others");
  await_monitor();
}

void await_monitor() noexcept {
  // Acquire: whether it has joined is known then.
  while (g_ready.load(std::memory_order_acquire) == 0) platform::futex_wait(g_ready, 0);
}

bool has_monitor() noexcept { return g_there.load(std::memory_order_relaxed); }

void forget_monitor() noexcept {
  g_there.store(false, std::memory_order_relaxed);
  g_ready.store(0, std::memory_order_relaxed);
}

void wake_monitor() noexcept {
  if (g_awake.exchange(1) == 0) platform::futex_wake(g_awake, 1);
}

}  // namespace weft::core
