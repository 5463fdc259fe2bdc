// SPDX-License-Identifier: Apache-2.0
// When a carrier whose yields let others run looks where the other carriers are: the rule, with a clock of its own.
#include "core/sched/cpu_spread.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace weft::core {
namespace {

using Look = SpreadLooks::Look;

constexpr int64_t kUs = 1'000;
constexpr int64_t kMs = 1'000 * kUs;
constexpr int64_t kNothing = 1 * kUs, kBrief = 10 * kUs, kSlice = 3 * kMs;  // what a yield lasts
constexpr int64_t kStart = 1'000 * kMs;

class SpreadLooksTest : public testing::Test {
 protected:
  Look yield(int64_t lasts) {
    const int64_t before = now_;
    now_ += lasts;
    return looks_.note_yield(before, now_);
  }

  // The times of looks anywhere during `lasts` of brief turns without a pause.
  std::vector<int64_t> looks_during(int64_t lasts) {
    std::vector<int64_t> times;
    for (const int64_t end = now_ + lasts; now_ < end;)
      if (yield(kBrief) == Look::kAlways) times.push_back(now_);
    return times;
  }

  SpreadLooks looks_;
  int64_t now_ = kStart;
};

TEST_F(SpreadLooksTest, NobodyRanNobodyIsLookedFor) {
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(yield(kNothing), Look::kNo);
}

TEST_F(SpreadLooksTest, ASliceIsLookedAtWhereACpuIsFree) {
  EXPECT_EQ(yield(kSlice), Look::kIfACpuIsFree);
  EXPECT_EQ(yield(kBrief), Look::kNo) << "it has just looked";
}

TEST_F(SpreadLooksTest, SlicesNeverLookAlways) {
  for (int i = 0; i < 1'000; ++i) EXPECT_NE(yield(kSlice), Look::kAlways);
}

TEST_F(SpreadLooksTest, BriefTurnsInARowAreLookedAtAnywhere) {
  const auto times = looks_during(2 * kMs);
  ASSERT_FALSE(times.empty());
  EXPECT_LT(times.front() - kStart, 1 * kMs);
}

TEST_F(SpreadLooksTest, TurnsThatAreInterruptedAreNotInARow) {
  for (int i = 0; i < 10'000; ++i) EXPECT_NE(yield(i % 4 == 0 ? kNothing : kBrief), Look::kAlways);
}

TEST_F(SpreadLooksTest, LooksThatDoNotHelpComeEverMoreRarely) {
  const auto times = looks_during(400 * kMs);
  ASSERT_GT(times.size(), 6);
  for (size_t i = 2; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], times[i - 1] - times[i - 2]);
  EXPECT_GE(times.back() - times[times.size() - 2], 32 * kMs);
  EXPECT_LT(times.back() - times[times.size() - 2], 34 * kMs);
}

TEST_F(SpreadLooksTest, ALookAfterALongWhileIsAFirstOne) {
  looks_during(400 * kMs);
  now_ += 1'000 * kMs;
  const auto times = looks_during(3 * kMs);
  ASSERT_GT(times.size(), 1);
  EXPECT_LT(times[1] - times[0], 2 * kMs);
}

TEST_F(SpreadLooksTest, TakesTheCarriersInTurn) {
  std::vector<int> seen;
  for (int i = 0; i < 4; ++i) seen.push_back(looks_.next_carrier(3));
  EXPECT_EQ(seen, (std::vector{1, 2, 0, 1}));
  EXPECT_EQ(looks_.next_carrier(1), 0) << "there are fewer now";
}

}  // namespace
}  // namespace weft::core
