// SPDX-License-Identifier: Apache-2.0
#include "interpose/gang_queue.h"

#include <atomic>

#include "platform/fence.h"
#include "platform/futex.h"

namespace weft::interpose {

namespace {

std::atomic<int> g_running{0};  // relaxed: a guess, as idle carriers are
std::atomic<uint32_t> g_ended{0};  // how many turns have ended or been passed on; threads that wait sleep on it
std::atomic<uint32_t> g_waiting{0};
thread_local int t_own = 0;

// Wakes one thread that waits. g_ended changes before the look at g_waiting; a thread that waits counts itself before
// the kernel compares g_ended. With a fence on both sides that thread is seen here, or sees the change and does not
// sleep.
void wake_one() noexcept {
  g_ended.fetch_add(1);
  platform::full_fence_after_update();
  if (g_waiting.load(std::memory_order_relaxed) > 0) platform::futex_wake(g_ended, 1);
}

}  // namespace

void begin_turn() noexcept {
  ++t_own;
  g_running.fetch_add(1, std::memory_order_relaxed);
}

// Wakes one thread only, since the carriers of one gang seldom suffice for two others. That thread waits for a bounded
// time at most, begins its gang then, and wakes the next one. If there were too few carriers for it, it sleeps again,
// and threads that need fewer of them sleep on as well: until another gang ends, or their own time is over.
void end_turn() noexcept {
  --t_own;
  g_running.fetch_sub(1, std::memory_order_relaxed);
  wake_one();
}

void pass_turn_on() noexcept { wake_one(); }

bool others_have_turns() noexcept { return t_own == 0 && g_running.load(std::memory_order_relaxed) > 0; }

uint32_t turns_ended() noexcept { return g_ended.load(std::memory_order_relaxed); }

void await_turn(uint32_t seen, int64_t ns) noexcept {
  g_waiting.fetch_add(1);
  platform::full_fence_after_update();
  if (others_have_turns()) platform::futex_wait_for(g_ended, seen, ns);
  g_waiting.fetch_sub(1, std::memory_order_relaxed);
}

void forget_turns() noexcept {
  g_running.store(t_own, std::memory_order_relaxed);
  g_waiting.store(0, std::memory_order_relaxed);
}

}  // namespace weft::interpose
