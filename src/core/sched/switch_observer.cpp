// SPDX-License-Identifier: Apache-2.0
#include "core/sched/switch_observer.h"

#include <mutex>

#include "core/sched/cpu_time.h"
#include "platform/futex_lock.h"

namespace weft::core {

alignas(64) std::atomic<SwitchObserver> g_switch_observer{nullptr};

namespace {

// The observer that tools have set. Threads that set it take the lock.
platform::FutexLock g_tools_lock;
std::atomic<SwitchObserver> g_tools{nullptr};

// The observer where CPU time is counted: it counts, and then calls the tools' observer.
void count_cpu_time(bool leaving, int number) noexcept {
  if (leaving) {
    count_turn_before_leave(current_context());
  } else {
    begin_counted_turn(current_context());
  }
  if (const SwitchObserver tools = g_tools.load(std::memory_order_acquire)) tools(leaving, number);
}

}  // namespace

void set_switch_observer(SwitchObserver observer) noexcept {
  const std::lock_guard lock(g_tools_lock);
  g_tools.store(observer, std::memory_order_release);
  SwitchObserver now = g_switch_observer.load(std::memory_order_relaxed);
  while (now != count_cpu_time && !g_switch_observer.compare_exchange_weak(now, observer, std::memory_order_release,
                                                                           std::memory_order_relaxed)) {
  }
}

void count_cpu_time_at_switches() noexcept {
  // Relaxed: once it is there it stays.
  if (g_switch_observer.load(std::memory_order_relaxed) == count_cpu_time) return;
  g_switch_observer.store(count_cpu_time, std::memory_order_release);
}

}  // namespace weft::core
