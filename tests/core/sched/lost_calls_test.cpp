// SPDX-License-Identifier: Apache-2.0
// No call for work is lost, however those that make contexts ready, carriers that fall asleep and carriers that may or
// may not work any more meet. The monitor, which would come to the rescue, rests: no root is in a region.
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/sched/blocking.h"
#include "core/sched/pool.h"
#include "core/sched/roots.h"
#include "core/sched/scheduler.h"
#include "core/sched/spinning.h"
#include "core/sched/start.h"
#include "core/sched/upcalls.h"
#include "core/sched/wait_queue.h"

namespace {

using namespace weft::core;

constexpr int kRoots = 2;
constexpr int kMostContexts = 3;

enum class Way : int { one_by_one, together, queue };
constexpr int kWays = 3;

// Contexts that begin, wait until all are let go, and end.
struct Meeting {
  WaitQueue queue;
  Way way = Way::one_by_one;
  std::atomic<bool> go{false};
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};

  void wait() {
    const auto over = [this] { return go.load(); };
    Context* self = current_context();
    while (!over()) {
      if (way == Way::queue) {
        const uint32_t ticket = queue.ticket();
        if (!over() && !queue.wait(ticket)) yield();
      } else if (!spin_until(self, over)) {
        block_unless(over);
      }
    }
  }
};

void attend(void* argument) {
  auto* meeting = static_cast<Meeting*>(argument);
  ++meeting->begun;
  meeting->wait();
  ++meeting->ended;
}

// For a time that is long enough for any machine, and without a look at the clock where it goes on at once.
bool await(const std::atomic<int>& value, int wanted) {
  constexpr int kYields = 1000;
  constexpr int kMilliseconds = 10'000;
  for (int i = 0; i < kYields; ++i) {
    if (value.load() == wanted) return true;
    std::this_thread::yield();
  }
  for (int i = 0; i < kMilliseconds; ++i) {
    if (value.load() == wanted) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void launch_all(const std::vector<Context*>& contexts, Way way) {
  if (way == Way::one_by_one) {
    for (Context* context : contexts) launch(context);
    return;
  }
  Context* chain = nullptr;
  for (Context* context : contexts) {
    if (!take_to_launch(context)) continue;
    context->next = chain;
    chain = context;
  }
  launch_together(chain);
}

// Whether each call came.
bool hold_meeting(Meeting* meeting, int round) {
  const auto way = static_cast<Way>(round % kWays);
  const int count = 1 + round % kMostContexts;
  meeting->way = way;
  meeting->go = false;
  meeting->begun = meeting->ended = 0;
  std::vector<Context*> contexts;
  for (int i = 0; i < count; ++i) {
    Context* context = make_context(attend, meeting, 1 + (round + i) % (slots() - 1));
    if (context == nullptr) return false;
    contexts.push_back(context);
  }
  launch_all(contexts, way);
  if (!await(meeting->begun, count)) return false;
  meeting->go = true;
  if (way == Way::queue) {
    meeting->queue.release();
  } else {
    for (Context* context : contexts) unblock(context);
  }
  return await(meeting->ended, count);
}

// Slots are taken in one round and given back in the next, so that workers may not work any more and may again. At
// least one of them can.
void take_or_give(int round, int slots) {
  const int taken = slots > 2 ? 2 + round / 2 % (slots - 2) : 0;
  for (int i = 0; i < round / 2 % 7; ++i) std::this_thread::yield();
  if (round % 2 == 0) {
    pool().active_roots.fetch_add(taken);
  } else {
    return_slots(pool(), taken);
  }
}

// Rounds begin together, so that whoever has not been called in one has nobody to be found by.
void hold_meetings(int slots, long spin_ns) {
  start({.slots = slots, .stack_size = 256 * 1024, .spin_ns = spin_ns});
  if (weft::core::slots() != slots) GTEST_SKIP() << "the pool starts once a process: one of these tests each";
  attach();
  grow_workers(slots - 1);
  // The monitor has begun to rest.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  constexpr int kRounds = 20000;
  std::atomic<int> failed{0};
  std::barrier round_begins(kRoots + 1);
  std::vector<std::thread> roots;
  for (int t = 0; t < kRoots; ++t) {
    roots.emplace_back([&, t] {
      attach();
      // Contexts look at it a moment after the last meeting.
      static std::array<Meeting, kRoots> meetings;
      Meeting& meeting = meetings[static_cast<size_t>(t)];
      if (!meeting.queue.reserve(kMostContexts)) ++failed;
      for (int round = 0; round < kRounds; ++round) {
        round_begins.arrive_and_wait();
        if (failed.load() == 0 && !hold_meeting(&meeting, round + t)) ++failed;
      }
      detach();
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    round_begins.arrive_and_wait();
    take_or_give(round, slots);
  }
  for (auto& root : roots) root.join();
  EXPECT_EQ(failed.load(), 0);
}

TEST(LostCallsTest, NoneByASingleWorkerThatSleeps) { hold_meetings(2, 0); }

TEST(LostCallsTest, NoneByASingleWorkerThatSpins) { hold_meetings(2, 20'000); }

TEST(LostCallsTest, NoneBySeveralThatSleep) { hold_meetings(4, 0); }

TEST(LostCallsTest, NoneBySeveralThatSpin) { hold_meetings(4, 20'000); }

}  // namespace
