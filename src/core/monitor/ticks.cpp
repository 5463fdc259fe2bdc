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
  // Between the watcher and `has_monitor` stands a fence on both sides (the monitor's is a system call): one that comes
  // now is seen, or it sees the watcher.
  platform::full_fence();
  if (!has_monitor()) return false;
  wake_monitor();
  return true;
}

void tick_watcher() noexcept {
  // Taken out before it is asked: one that is set again while it answers no stays.
  const TickWatcher watcher = g_tick_watcher.exchange(nullptr, std::memory_order_acquire);
  if (watcher == nullptr || !watcher()) return;
  TickWatcher expected = nullptr;
  g_tick_watcher.compare_exchange_strong(expected, watcher, std::memory_order_release, std::memory_order_relaxed);
}

bool ticks_watched() noexcept { return g_tick_watcher.load(std::memory_order_relaxed) != nullptr; }

}  // namespace weft::core
