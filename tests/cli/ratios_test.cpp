// SPDX-License-Identifier: Apache-2.0
// What pairs of times say of the ratio of two programs' times.
#include "duel/ratios.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::tools::interval_of_median;
using weft::tools::median_of;

std::vector<double> numbers(int count) {
  std::vector<double> made;
  for (int i = 1; i <= count; ++i) made.push_back(i);
  return made;
}

TEST(Ratios, MedianOfEvenAndOddNumbers) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median_of({}), 0);
}

// By tables of the binomial distribution with a half: of n values the r smallest are below the median with a chance of
// at most 0.005.
TEST(Ratios, IntervalLeavesOutWhatTheBinomialSays) {
  for (int count = 0; count < 8; ++count) EXPECT_FALSE(interval_of_median(numbers(count))) << count;
  for (const auto& [count, left_out] : {std::pair{8, 1}, std::pair{10, 1}, std::pair{12, 2}, std::pair{20, 4}}) {
    const auto interval = interval_of_median(numbers(count));
    ASSERT_TRUE(interval) << count;
    EXPECT_EQ(interval->low, left_out) << count;
    EXPECT_EQ(interval->high, count + 1 - left_out) << count;
  }
}

TEST(Ratios, IntervalHoldsTheMedianMostly) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> ratio(0, 0.3);  // its median is 1
  int outside = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(15);
    std::generate(values.begin(), values.end(), [&] { return ratio(random); });
    const auto interval = interval_of_median(values);
    outside += interval->low > 1 || interval->high < 1 ? 1 : 0;
  }
  EXPECT_LE(outside, kTrials / 50);
}

}  // namespace
