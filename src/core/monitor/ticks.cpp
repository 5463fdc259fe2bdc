// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/ticks.h"

#include <atomic>

#include "core/sched/watcher.h"
#include "platform/fence.h"

namespace weft::core {

namespace {

// Release and acquire: with the function comes what it uses.
std::atomic<TickWatcher> g_tick_watcher{nullptr};

}  // namespace

bool watch_ticks(TickWatcher watcher) noexcept {
  g_tick_watcher.store(watcher, std::memory_order_release);
  // On both sides there is a fence between the watcher and has_monitor() (the monitor's is a system call): a monitor
  // that starts now is seen here, or it sees the watcher.
  platform::full_fence();
  if (!has_monitor()) return false;
  wake_monitor();
  return true;
}

void tick_watcher() noexcept {
  // The watcher is taken out before it is called, and put back if it wants more calls. One that somebody sets meanwhile
  // stays.
  const TickWatcher watcher = g_tick_watcher.exchange(nullptr, std::memory_order_acquire);
  if (watcher == nullptr || !watcher()) return;
  TickWatcher expected = nullptr;
  g_tick_watcher.compare_exchange_strong(expected, watcher, std::memory_order_release, std::memory_order_relaxed);
}

bool ticks_watched() noexcept { return g_tick_watcher.load(std::memory_order_relaxed) != nullptr; }

}  // namespace weft::core
