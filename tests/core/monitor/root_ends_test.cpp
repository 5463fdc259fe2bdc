// SPDX-License-Identifier: Apache-2.0
// The identities that have served roots end soon after these have ended, and then nobody looks for more.
#include "core/monitor/root_ends.h"

#include <array>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "../await.h"
#include "core/sched/pool.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "core/sched/watcher.h"

namespace {

using namespace weft::core;

std::atomic<int> g_begun{0};
std::atomic<int> g_ended{0};

struct Mark {
  Mark() { ++g_begun; }
  ~Mark() { ++g_ended; }
  int uses = 0;
};
// Members have one; a root's ends with the root in any case.
thread_local Mark t_mark;
thread_local bool t_is_root = false;

// Outlive late claimers.
std::array<ParallelCall, 4> g_calls;

void mark(ParallelCall*, int) {
  if (!t_is_root) ++t_mark.uses;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void region(ParallelCall* calls, int count) {
  Context* self = attach();
  calls->call = mark;
  enter_region(self, count);
  publish(calls, count);
  mark(calls, 0);
  join(calls);
  leave_region(self);
}

// As a thread of the program does.
void root(ParallelCall* calls, int regions) {
  t_is_root = true;
  for (int i = 0; i < regions; ++i) region(calls, 6);
  detach();
}

TEST(RootEndsTest, IdentitiesEndBehindTheirRoots) {
  start({.slots = 3, .stack_size = 256 * 1024, .spin_ns = 0});
  for (int round = 0; round < 4; ++round) {
    std::array<std::thread, 4> roots;
    for (size_t i = 0; i < roots.size(); ++i) {
      roots[i] = std::thread([i] { root(&g_calls[i], 5); });
    }
    for (std::thread& thread : roots) thread.join();
    EXPECT_TRUE(await([] { return g_ended.load() == g_begun.load(); })) << g_ended << " of " << g_begun;
  }
  EXPECT_GT(g_begun.load(), 0);
}

TEST(RootEndsTest, NobodyLooksForMoreWhenTheyHaveEnded) {
  start({.slots = 3, .stack_size = 256 * 1024, .spin_ns = 0});
  RootEnds ends;
  std::thread([] { root(g_calls.data(), 1); }).join();
  EXPECT_TRUE(ends.need_ticks(pool()));
  EXPECT_TRUE(await([&] {
    ends.tick(pool());
    return !ends.need_ticks(pool());
  }));
  ends.tick(pool());
  EXPECT_FALSE(ends.need_ticks(pool()));
}

// As long as a region is open they are in use, or will be.
TEST(RootEndsTest, TheyWaitForARegionThatIsOpen) {
  start({.slots = 3, .stack_size = 256 * 1024, .spin_ns = 0});
  Context* self = attach();
  std::thread([] { root(g_calls.data(), 1); }).join();
  RootEnds ends;
  enter_region(self, 2);
  constexpr int kLooks = 100;
  for (int i = 0; i < kLooks; ++i) {
    ends.tick(pool());
    EXPECT_TRUE(ends.need_ticks(pool()));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  leave_region(self);
  EXPECT_TRUE(await([&] {
    ends.tick(pool());
    return !ends.need_ticks(pool());
  }));
}

}  // namespace
