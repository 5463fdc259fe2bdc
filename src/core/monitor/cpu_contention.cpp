// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/cpu_contention.h"

#include <algorithm>

#include "core/monitor/cpu_load.h"
#include "core/sched/pool.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

// Release and acquire: with the function comes what it uses.
std::atomic<ContentionWatcher> g_contention_watcher{nullptr};

// Threads had to wait for this part, or more, of the time in which they wanted to run. Less is due to the system's own
// work.
constexpr double kMuch = 0.2;

}  // namespace

void watch_contention(ContentionWatcher watcher) noexcept {
  g_contention_watcher.store(watcher, std::memory_order_release);
}

platform::RunTimes CpuContention::look_at_threads(const Pool& p) noexcept {
  const int count = p.carrier_count.load(std::memory_order_acquire);
  const int step = count / static_cast<int>(kMostThreads) + 1;
  platform::RunTimes sum;
  for (int i = 0; i < count; i += step) {
    const pid_t thread = p.carrier(i)->thread_id.load(std::memory_order_relaxed);
    Seen& before = seen_[static_cast<size_t>(i / step)];
    platform::RunTimes now;
    if (thread == 0 || !platform::run_times(thread, now)) continue;
    if (before.thread == thread) {
      sum.ran_ns += now.ran_ns - before.times.ran_ns;
      sum.waited_ns += now.waited_ns - before.times.waited_ns;
    }
    before = {.thread = thread, .times = now};
  }
  return sum;
}

void CpuContention::tick(const Pool& p) noexcept {
  const ContentionWatcher watcher = g_contention_watcher.load(std::memory_order_acquire);
  // With more slots than CPUs, by WEFT_NUM_CPUS, the process's own threads take the CPUs from each other, as the user
  // wants it.
  if (watcher == nullptr || p.settings.slots > platform::cpus_of_machine() || ++ticks_ % kTicks != 0) return;
  const uint32_t gangs = p.gangs.load(std::memory_order_relaxed);
  const bool worth_a_look = gangs != gangs_before_;
  gangs_before_ = gangs;
  // Where processes share the CPUs by the node, it is known how many this one may use.
  if (const int usable = p.node.usable(p.settings.slots); usable < p.settings.slots) {
    if (worth_a_look) watcher(usable);
    return;
  }
  if (!worth_a_look) {
    looked_before_ = false;
    return;
  }
  const int64_t time = platform::now_ns();
  const int64_t used = platform::cpu_time_ns();
  const platform::RunTimes times = look_at_threads(p);
  const double got =
      static_cast<double>(used - used_before_) / static_cast<double>(std::max<int64_t>(1, time - time_before_));
  time_before_ = time;
  used_before_ = used;
  const bool first = !looked_before_;
  looked_before_ = true;
  const auto waited = static_cast<double>(times.waited_ns);
  if (first || waited < kMuch * (waited + static_cast<double>(times.ran_ns))) return;
  constexpr double kNearlyOne = 0.25;
  watcher(std::max(1, static_cast<int>(got + kNearlyOne)));
}

}  // namespace weft::core
