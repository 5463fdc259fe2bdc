// SPDX-License-Identifier: Apache-2.0
#include "openmp/library/call_turns.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include <pthread.h>

#include "core/api/fork.h"
#include "core/api/wait.h"
#include "openmp/library/call_right.h"
#include "openmp/library/nested_blas.h"
#include "platform/cycles.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// The region whose turn it is. Release by the one whose turn it is, acquire by those that join.
std::atomic<core::ParallelCall*> g_turn{nullptr};
thread_local bool t_turn = false;

// Those that poll, and those that sleep. A thread that falls asleep adds itself and then looks whether enough poll; a
// thread that stops polling subtracts itself and then looks whether some sleep: with a fence between, one of the two
// sees the other.
std::atomic<int> g_polling{0};
std::atomic<int> g_asleep{0};
// What they sleep on: it changes before one is woken.
std::atomic<uint32_t> g_wakes{0};

int most_polling() noexcept { return std::max(core::slots() - 1, 1); }

bool start_polling() noexcept {
  int polling = g_polling.load(std::memory_order_relaxed);
  while (polling < most_polling()) {
    if (g_polling.compare_exchange_weak(polling, polling + 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

void stop_polling() noexcept {
  g_polling.fetch_sub(1);
  platform::full_fence_after_update();
  if (g_asleep.load(std::memory_order_relaxed) == 0) return;
  g_wakes.fetch_add(1);
  core::unpark(g_wakes, 1);
}

void sleep() noexcept {
  const uint32_t wakes = g_wakes.load();
  g_asleep.fetch_add(1);
  platform::full_fence_after_update();
  if (g_polling.load(std::memory_order_relaxed) >= most_polling()) core::park(g_wakes, wakes);
  g_asleep.fetch_sub(1);
}

// The region whose turn it is, if the caller may be a member.
core::ParallelCall* open_turn(const core::Context* self) noexcept {
  core::ParallelCall* turn = g_turn.load(std::memory_order_acquire);
  const bool open = turn != nullptr && turn->claimable() && turn->root.load(std::memory_order_relaxed) == self->root;
  return open ? turn : nullptr;
}

bool poll(int64_t give_up_ns) noexcept {
  const core::Context* self = core::current_context();
  uint64_t served = 0;
  while (!take_right()) {
    if (platform::now_ns() > give_up_ns) return false;
    if (core::ParallelCall* turn = open_turn(self)) {
      core::take_part(turn, &served);
    } else if (!core::spin_until(self, [self] { return open_turn(self) != nullptr || right_is_free(); })) {
      core::yield();
    }
  }
  return true;
}

// Nobody waits in the child of a fork, and what others held is nobody's.
void forget_others() noexcept {
  t_turn = false;
  t_threads_answered = 0;
  forget_rights();
  g_turn.store(nullptr, std::memory_order_relaxed);
  g_polling.store(0, std::memory_order_relaxed);
  g_asleep.store(0, std::memory_order_relaxed);
}

[[gnu::constructor]] void on_load() noexcept { pthread_atfork(await_leavers, nullptr, forget_others); }

}  // namespace

bool begin_turn(int64_t give_up_ns) noexcept {
  // A promise of the last question, which has opened no region, is the caller's own.
  t_turn = keep_right() || take_right();
  if (t_turn) return true;
  while (!start_polling()) sleep();
  t_turn = poll(give_up_ns);
  stop_polling();
  return t_turn;
}

bool has_turn() noexcept { return t_turn; }

int gather_members(core::ParallelCall* region) noexcept {
  // Those that wait have this long to join; and those that have not asked yet, or have just left the loop, have this
  // long to ask or to be seen as idle: an OS thread lent in their place would take their CPU from them.
  constexpr int64_t kTimeToJoinNs = 200'000;
  constexpr int64_t kTimeToFinishNs = 100'000;
  g_turn.store(region, std::memory_order_release);
  const int64_t start = platform::now_ns();
  for (int64_t now = start; region->claimable(); now = platform::now_ns()) {
    const bool some_poll = g_polling.load(std::memory_order_relaxed) > 0;
    const int idle = some_poll ? 0 : core::idle_carriers();
    if (idle >= region->unclaimed()) return idle;
    if (now - start > (some_poll ? kTimeToJoinNs : kTimeToFinishNs)) break;
    platform::pause();
  }
  return 0;
}

void end_turn() noexcept {
  t_turn = false;
  g_turn.store(nullptr, std::memory_order_relaxed);
  give_back_right();
}

bool hand_over_turn() noexcept { return std::exchange(t_turn, false); }

void take_back_turn(bool turn) noexcept { t_turn = turn; }

}  // namespace weft::openmp
