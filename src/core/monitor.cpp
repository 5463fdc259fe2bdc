// SPDX-License-Identifier: Apache-2.0
// The monitor: an OS thread that ticks while roots hold slots. It takes slots back from roots that have
// gone on to other things, and lends OS threads when work waits and nobody comes to fetch it: members
// that spin on each other or sit in the kernel must not stop those that could release them.
#include <algorithm>
#include <ctime>
#include <new>

#include <pthread.h>
#include <signal.h>

#include "core/pool.h"
#include "platform/futex.h"
#include "platform/thread_state.h"

namespace weft::core {

namespace {

constexpr long kTickNs = 5'000'000;
// A root that has opened no region for this many ticks gives its slot back.
constexpr int kTicksToRelease = 2;
// Carriers that run may be computing: lending to them costs time slices, so it comes later than lending
// for carriers that the kernel has put to sleep.
constexpr int kTicksBeforeLendingToRunners = 10;
constexpr int kTicksToKeepLent = 20;

std::atomic<uint32_t> g_awake{0};

// What one tick remembers of a carrier for the next.
struct Seen {
  uint32_t regions = 0;
  int quiet_ticks = 0;
  bool ready_waited = false;
  const Context* root_waited = nullptr;
  uint64_t root_switches = 0;
  bool root_stalled = false;
  uint32_t ready_taken = 0;
  std::array<uint64_t, kOpenBundles> claims{};
};

class Monitor {
 public:
  explicit Monitor(Pool* p) noexcept : pool_(*p) {}

  // False when there is nothing to watch any more.
  bool tick() noexcept {
    const int count = pool_.carrier_count.load(std::memory_order_acquire);
    release_idle_roots(count);
    const bool stalled = find_stall(count);
    if (stalled) {
      ++stalled_ticks_;
      calm_ticks_ = 0;
      lend(count);
    } else {
      stalled_ticks_ = 0;
      if (++calm_ticks_ >= kTicksToKeepLent) pool_.lent.store(0, std::memory_order_relaxed);
    }
    return pool_.active_roots.load(std::memory_order_relaxed) > 0;
  }

 private:
  Seen& seen(int index) noexcept {
    if (seen_[index] == nullptr) seen_[index] = new (std::nothrow) Seen;
    static Seen spare;
    return seen_[index] != nullptr ? *seen_[index] : spare;
  }

  void release_idle_roots(int count) noexcept {
    for (int i = 0; i < count; ++i) {
      Carrier* carrier = pool_.carrier(i);
      if (!carrier->is_root() || !carrier->holds_slot.load(std::memory_order_relaxed)) continue;
      Seen& before = seen(i);
      const uint32_t regions = carrier->regions_seen.load(std::memory_order_relaxed);
      const bool quiet = regions == before.regions && carrier->regions_open.load(std::memory_order_relaxed) == 0;
      before.regions = regions;
      before.quiet_ticks = quiet ? before.quiet_ticks + 1 : 0;
      if (before.quiet_ticks >= kTicksToRelease) release_slot(carrier);
    }
  }

  // Whether some work has waited for a whole tick and nobody has taken anything from where it waits.
  bool find_stall(int count) noexcept {
    bool stalled = false;
    for (int i = 0; i < count; ++i) {
      Carrier* carrier = pool_.carrier(i);
      Seen& before = seen(i);

      const bool ready = !carrier->ready.empty();
      const uint32_t taken = carrier->ready.taken();
      stalled |= ready && before.ready_waited && taken == before.ready_taken;
      before.ready_waited = ready;
      before.ready_taken = taken;

      const Context* root = carrier->root_ready.load(std::memory_order_relaxed);
      const uint64_t switches = carrier->statistics.switches.get();
      before.root_stalled = root != nullptr && root == before.root_waited && switches == before.root_switches;
      stalled |= before.root_stalled;
      before.root_waited = root;
      before.root_switches = switches;
      carrier->abandoned.store(before.root_stalled && (asleep_in_kernel(carrier) || patience_is_over()),
                               std::memory_order_relaxed);

      const int top = std::min(carrier->open_top.load(std::memory_order_acquire), kOpenBundles);
      for (int k = 0; k < kOpenBundles; ++k) {
        const Bundle* bundle = k < top ? carrier->open[k].load(std::memory_order_acquire) : nullptr;
        const uint64_t claim =
            bundle != nullptr && bundle->claimable() ? bundle->claim.load(std::memory_order_relaxed) : 0;
        stalled |= claim != 0 && claim == before.claims[k];
        before.claims[k] = claim;
      }
    }
    return stalled;
  }

  // Stuck in a system call of the program's, not in ours.
  static bool asleep_in_kernel(const Carrier* carrier) noexcept {
    if (carrier->wake.load(std::memory_order_relaxed) == Wake::sleeping) return false;
    if (carrier->is_root() && !carrier->holds_slot.load(std::memory_order_relaxed)) return false;
    return platform::thread_state(carrier->thread_id) == platform::ThreadState::sleeping;
  }

  int count_asleep(int count) noexcept {
    int asleep = 0;
    for (int i = 0; i < count; ++i) asleep += asleep_in_kernel(pool_.carrier(i)) ? 1 : 0;
    return asleep;
  }

  bool patience_is_over() const noexcept { return stalled_ticks_ > kTicksBeforeLendingToRunners; }

  void lend(int count) noexcept {
    const int lent = pool_.lent.load(std::memory_order_relaxed);
    const int sleeping = count_asleep(count);
    int wanted = lent;
    if (sleeping > lent) {
      wanted = sleeping;
    } else if (patience_is_over() || (lent > 0 && stalled_ticks_ > 1)) {
      wanted = lent == 0 ? 1 : 2 * lent;
    }
    if (wanted > lent) {
      pool_.compensations.fetch_add(static_cast<uint64_t>(wanted - lent), std::memory_order_relaxed);
      pool_.lent.store(wanted, std::memory_order_relaxed);
      grow_workers(std::min(pool_.worker_limit(), kMaxCarriers / 2));
    }
    // Idle workers may have become allowed; they look for work of any root.
    for (int i = 0; i < pool_.worker_limit(); ++i) notify(nullptr);
  }

  Pool& pool_;
  std::array<Seen*, kMaxCarriers> seen_{};
  int stalled_ticks_ = 0;
  int calm_ticks_ = 0;
};

void* monitor_main(void* argument) {
  static Monitor* monitor;
  monitor = new (std::nothrow) Monitor(static_cast<Pool*>(argument));
  if (monitor == nullptr) return nullptr;
  for (;;) {
    const timespec tick{0, kTickNs};
    nanosleep(&tick, nullptr);
    if (monitor->tick()) continue;
    // A root that takes a slot wakes us after it has counted itself; so does one that came meanwhile.
    g_awake.store(0);
    if (g_pool.load()->active_roots.load() > 0) {
      g_awake.store(1);
      continue;
    }
    while (g_awake.load() == 0) platform::futex_wait(g_awake, 0);
  }
}

}  // namespace

void start_monitor() noexcept {
  g_awake.store(1);
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256u << 10);
  pthread_t thread;
  // Without a monitor all but programs whose members spin on each other still end.
  pthread_create(&thread, &attributes, monitor_main, &pool());
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

void wake_monitor() noexcept {
  if (g_awake.exchange(1) == 0) platform::futex_wake(g_awake, 1);
}

}  // namespace weft::core
