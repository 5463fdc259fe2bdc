// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/cpu_load.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <ctime>

#include "core/sched/pool.h"
#include "core/sched/watcher.h"
#include "platform/cpu_set.h"
#include "platform/thread_state.h"

namespace weft::core {

namespace {

// Release and acquire: with the function comes what it uses.
std::atomic<IdleWatcher> g_idle_watcher{nullptr};

// How many carriers use a CPU only to look for work or to wait, and could be asked to do something else.
int spinning(const Pool& p) noexcept {
  const int count = p.carrier_count.load(std::memory_order_acquire);
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const Carrier* carrier = p.carrier(i);
    const bool looks = p.is_idle(carrier) && carrier->wake.load(std::memory_order_relaxed) != Wake::sleeping;
    found += looks || carrier->waiting.load(std::memory_order_relaxed) ? 1 : 0;
  }
  return found;
}

bool is_at_work(const Pool& p, const Carrier& carrier) noexcept {
  if (p.is_idle(&carrier) || carrier.waiting.load(std::memory_order_relaxed)) return false;
  if (!carrier.is_root()) return carrier.wake.load(std::memory_order_relaxed) != Wake::sleeping && p.allowed(&carrier);
  // Where nobody else wants its slot, the monitor may have taken it from a root that computes outside of regions.
  return carrier.holds_slot.load(std::memory_order_relaxed) ||
         platform::thread_state(carrier.thread_id.load(std::memory_order_relaxed)) == platform::ThreadState::running;
}

// How many CPUs of the machine nobody uses, if `looking` of our threads do not count. Returns INT_MAX, for no limit,
// where that is not known or does not matter: where the process may not use all CPUs, and so does not know the other
// users of its own ones; and where it has more slots than CPUs, by WEFT_NUM_CPUS.
int idle_of_machine(const Pool& p, int looking) noexcept {
  const int cpus = platform::cpus_of_machine();
  const int runnable = platform::runnable_threads_of_machine();
  if (runnable == 0 || p.settings.slots > cpus || platform::thread_cpus().count() < cpus) return INT_MAX;
  return cpus - runnable + looking;
}

}  // namespace

void watch_idle_cpus(IdleWatcher watcher) noexcept {
  if (g_idle_watcher.exchange(watcher, std::memory_order_release) == nullptr) wake_monitor();
}

bool idle_cpus_watched() noexcept { return g_idle_watcher.load(std::memory_order_relaxed) != nullptr; }

int carriers_at_work() noexcept {
  const Pool* p = g_pool.load(std::memory_order_acquire);
  if (p == nullptr) return 0;
  const int count = p->carrier_count.load(std::memory_order_acquire);
  int working = 0;
  for (int i = 0; i < count; ++i) working += is_at_work(*p, *p->carrier(i)) ? 1 : 0;
  return working;
}

void IdleCpus::tick(const Pool& p) noexcept {
  const IdleWatcher watcher = g_idle_watcher.load(std::memory_order_acquire);
  if (watcher == nullptr) {
    time_before_ = 0;
    return;
  }
  const int64_t time = platform::now_ns();
  const int64_t used = platform::cpu_time_ns();
  const int64_t passed = time - time_before_;
  const double busy =
      std::max(0.0, static_cast<double>(used - used_before_) / static_cast<double>(passed) - spinning(p));
  const bool first = time_before_ == 0;
  time_before_ = time;
  used_before_ = used;
  if (first || pause_ > 0) {
    pause_ = std::max(0, pause_ - 1);
    ticks_ = 0;
    return;
  }
  busy_ = ticks_ == 0 ? busy : std::max(busy_, busy);
  constexpr double kMuch = 0.75;  // so much of a CPU counts as an idle one
  if (p.settings.slots - busy_ < kMuch) {
    ticks_ = 0;
    return;
  }
  if (++ticks_ < kTicks) return;
  ticks_ = 0;
  // A thread that wants a CPU and gets none, as other processes want it too, uses no time, just like one that sleeps.
  // The look at each of the process's threads tells them apart. It comes last: it costs most, and where many processes
  // want the CPUs, each of them would look in vain.
  constexpr int kMonitorItself = 1;
  const int looking = kMonitorItself + spinning(p);
  const int slots =
      std::min(p.node.usable(p.settings.slots), p.settings.slots - p.held_back.load(std::memory_order_relaxed));
  int idle = std::min(static_cast<int>(slots - busy_ + 1 - kMuch), idle_of_machine(p, looking));
  if (idle >= 1) idle = std::min(idle, slots - platform::running_threads() + looking);
  if (idle < 1) {
    pause_ = kPause;
    return;
  }
  // The watcher is taken out before it is called, and put back if it wants more calls. One that somebody sets meanwhile
  // stays.
  g_idle_watcher.store(nullptr, std::memory_order_relaxed);
  if (!watcher(idle, static_cast<int>(std::lround(busy_)))) return;
  IdleWatcher expected = nullptr;
  g_idle_watcher.compare_exchange_strong(expected, watcher, std::memory_order_release, std::memory_order_relaxed);
}

}  // namespace weft::core
