// SPDX-License-Identifier: Apache-2.0
#include "adopt/turns.h"

#include <atomic>

#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::adopt {

namespace {

std::atomic<int> g_running{0};      // relaxed: a guess, as idle carriers are
std::atomic<uint32_t> g_ended{0};   // changes with each gang that ends while somebody waits
std::atomic<uint32_t> g_waiting{0};
thread_local int t_own = 0;

}  // namespace

void begin_turn() noexcept {
  ++t_own;
  g_running.fetch_add(1, std::memory_order_relaxed);
}

// Between the change and `g_waiting` stands a fence on both sides: who waits is seen here, or sees the gang gone. Were
// it otherwise, only time would be lost.
void end_turn() noexcept {
  --t_own;
  g_running.fetch_sub(1, std::memory_order_relaxed);
  platform::full_fence();
  if (g_waiting.load(std::memory_order_relaxed) == 0) return;
  g_ended.fetch_add(1, std::memory_order_relaxed);
  platform::futex_wake(g_ended, 1);
}

bool others_have_turns() noexcept { return t_own == 0 && g_running.load(std::memory_order_relaxed) > 0; }

uint32_t turns_ended() noexcept { return g_ended.load(std::memory_order_relaxed); }

void await_turn(uint32_t seen, int64_t ns) noexcept {
  g_waiting.fetch_add(1, std::memory_order_relaxed);
  platform::full_fence();
  if (others_have_turns()) platform::futex_wait_for(g_ended, seen, ns);
  g_waiting.fetch_sub(1, std::memory_order_relaxed);
}

void forget_turns() noexcept {
  g_running.store(t_own, std::memory_order_relaxed);
  g_waiting.store(0, std::memory_order_relaxed);
}

}  // namespace weft::adopt
