// SPDX-License-Identifier: Apache-2.0
// Entries for parallel calls: those of deep nests are made when they are needed.
#include "core/sched/open_calls.h"

#include <gtest/gtest.h>

#include "../keep.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"

namespace {

using namespace weft::core;

TEST(OpenCallsTest, HoldAsManyAsThereMayBe) {
  static OpenCalls open;
  static ParallelCall calls[kOpenCalls];
  for (int i = 0; i < kOpenCalls; ++i) {
    ASSERT_TRUE(open.has_room_for(i));
    EXPECT_EQ(open[i].load(), nullptr);
    open[i] = &calls[i];
  }
  EXPECT_FALSE(open.has_room_for(kOpenCalls));
  for (int i = 0; i < kOpenCalls; ++i) EXPECT_EQ(open[i].load(), &calls[i]);
}

// A region in a region and so on, deeper than the entries that are always there.
struct Level : ParallelCall {
  int level = 0;
  std::atomic<int> others{0};
};

constexpr int kLevels = 3 * OpenCalls::kFirst;

void open_level(ParallelCall* outer, int index);

void run_level(int level) {
  auto* mine = keep(new Level);  // late claimers may look at it
  mine->level = level;
  mine->call = open_level;
  publish(mine, 2);
  if (level < kLevels) run_level(level + 1);
  join(mine);
  EXPECT_EQ(mine->others.load(), 1) << "at level " << level;
}

void open_level(ParallelCall* outer, int) { ++static_cast<Level*>(outer)->others; }

TEST(OpenCallsTest, DeepNestsRunAllTheirCalls) {
  start({.slots = 4, .stack_size = 256 * 1024, .spin_ns = 10'000});
  Context* self = attach();
  enter_region(self, 2);
  for (int i = 0; i < 50; ++i) run_level(0);
  leave_region(self);
}

}  // namespace
