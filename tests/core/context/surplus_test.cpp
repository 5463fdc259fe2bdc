// SPDX-License-Identifier: Apache-2.0
// Contexts that nobody needs any more end after a while, and those that are needed again come again.
#include "core/sched/surplus.h"

#include <array>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "../await.h"
#include "core/sched/blocking.h"
#include "core/sched/pool.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"

namespace {

using namespace weft::core;

struct Crowd {
  std::atomic<int> there{0};
  std::atomic<bool> over{false};
};

// So many contexts are alive at the same time, and end.
bool crowd_of(int count) {
  Crowd crowd;
  std::vector<Context*> contexts;
  for (int i = 0; i < count; ++i) {
    Context* context = make_context(
        [](void* argument) {
          auto* crowd = static_cast<Crowd*>(argument);
          ++crowd->there;
          while (!crowd->over.load()) block_unless([&] { return crowd->over.load(); });
          --crowd->there;
        },
        &crowd, 1);
    if (context == nullptr) return false;
    contexts.push_back(context);
    launch(context);
  }
  const bool came = await([&] { return crowd.there.load() == count; });
  crowd.over = true;
  for (Context* context : contexts) unblock(context);
  return await([&] { return crowd.there.load() == 0; }) && came;
}

class SurplusTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Donors, SurplusTest, testing::Values(100, 0),
                         [](const auto& info) { return info.param == 0 ? "Absent" : "Present"; });

TEST_P(SurplusTest, UnusedOnesEndAndOthersComeInTheirPlace) {
  start({.slots = 2, .stack_size = 256 * 1024, .parked_threads = GetParam(), .spin_ns = 0});
  Context* self = attach();
  enter_region(self, 2);
  constexpr int kMany = 60;
  ASSERT_TRUE(crowd_of(kMany));
  EXPECT_GE(totals().peak_donors, kMany - 2);
  // Those that a carrier has at hand are not looked at; on the shelf half go at a time.
  EXPECT_TRUE(await([] { return totals().donors_ended >= kMany / 4; }));
  EXPECT_LT(totals().donors, kMany);
  ASSERT_TRUE(crowd_of(kMany));
  leave_region(self);
}

int shelved() {
  int sum = 0;
  for (int i = 0; i < pool().carrier_count.load(); ++i) sum += pool().carrier(i)->free.shelved.load();
  return sum;
}

// The process ends: no thread is told to end any more.
TEST_P(SurplusTest, StoppedItEndsNobody) {
  start({.slots = 2, .stack_size = 256 * 1024, .parked_threads = GetParam(), .spin_ns = 0});
  Context* self = attach();
  enter_region(self, 2);
  ASSERT_TRUE(crowd_of(60));
  // The monitor's own. Each of the others looks at once at its first tick.
  pool().surplus.stop(pool());
  EXPECT_FALSE(pool().surplus.any(pool()));
  static std::array<Surplus, 3> others;
  others[0].tick(pool());
  ASSERT_TRUE(await([] { return shelved() > 0; }));
  others[1].stop(pool());
  const int before = shelved();
  others[1].tick(pool());
  EXPECT_EQ(shelved(), before);
  EXPECT_FALSE(others[1].any(pool()));
  // Now they have been there for two looks.
  others[2].tick(pool());
  EXPECT_LT(shelved(), before);
  EXPECT_TRUE(others[2].any(pool()));
  others[2].stop(pool());
  EXPECT_TRUE(crowd_of(60)) << "others come in their place";
  leave_region(self);
}

}  // namespace
