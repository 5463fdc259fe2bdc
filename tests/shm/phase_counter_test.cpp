// SPDX-License-Identifier: Apache-2.0
#include "weft/phase_counter.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

extern "C" int phase_counter_in_c(weft_phase_counter* counter);
extern "C" size_t phase_counter_switched_off(weft_phase_counter* counter);

namespace {

weft_phase_counter made(int points) {
  weft_phase_counter counter;
  weft_phase_init(&counter, points);
  return counter;
}

// An operation with stamps of one's own.
void pass(weft_phase_counter& counter, const std::vector<uint64_t>& stamps) {
  counter.passed = 0;
  for (size_t k = 0; k < stamps.size(); ++k) {
    if (stamps[k] == 0) continue;
    counter.passed |= 1u << k;
    counter.stamps[k] = stamps[k];
  }
  weft_phase_record(&counter);
}

std::string printed(const weft_phase_counter& counter) {
  char* text = nullptr;
  size_t size = 0;
  FILE* out = open_memstream(&text, &size);
  weft_phase_print_head(out, counter.points, "clients");
  weft_phase_print(out, "N = 2", &counter);
  fclose(out);
  std::string found(text, size);
  std::free(text);
  return found;
}

TEST(PhaseCounterTest, EveryValueIsInTheBucketWhoseMiddleIsNearIt) {
  int last = -1;
  for (uint64_t value = 0; value < 1ull << 43; value = value + 1 + value / 50) {
    const int bucket = weft_phase_bucket(value);
    ASSERT_GE(bucket, last);
    ASSERT_LT(bucket, WEFT_PHASE_BUCKETS);
    ASSERT_NEAR(weft_phase_bucket_ticks(bucket), static_cast<double>(value), static_cast<double>(value) / 32);
    last = bucket;
  }
}

TEST(PhaseCounterTest, TheLongestTimesCountAsTheLastBucket) {
  EXPECT_EQ(weft_phase_bucket(1ull << 60), WEFT_PHASE_BUCKETS - 1);
  EXPECT_EQ(weft_phase_bucket(UINT64_MAX), WEFT_PHASE_BUCKETS - 1);
}

TEST(PhaseCounterTest, PhasesAndTheWholeAreLessByTheMarks) {
  weft_phase_counter counter = made(3);
  counter.overhead = 10;
  pass(counter, {1000, 1110, 1220});
  EXPECT_EQ(weft_phase_mean(&counter, &counter.phases[0]), 100);
  EXPECT_EQ(weft_phase_mean(&counter, &counter.phases[1]), 100);
  EXPECT_EQ(weft_phase_mean(&counter, &counter.whole), 200);
}

TEST(PhaseCounterTest, LessThanTheMarksTakeIsZero) {
  weft_phase_counter counter = made(3);
  counter.overhead = 10;
  pass(counter, {1000, 1005, 900});
  for (const weft_phase_histogram* histogram : {&counter.phases[0], &counter.phases[1], &counter.whole}) {
    EXPECT_EQ(histogram->count, 1u);
    EXPECT_EQ(weft_phase_mean(&counter, histogram), 0);
    EXPECT_EQ(weft_phase_quantile(&counter, histogram, 0.5), 0);
  }
}

TEST(PhaseCounterTest, APointThatWasNotPassedHidesItsPhasesOnly) {
  weft_phase_counter counter = made(4);
  counter.overhead = 0;
  pass(counter, {100, 0, 130, 150});
  EXPECT_EQ(counter.phases[0].count, 0u);
  EXPECT_EQ(counter.phases[1].count, 0u);
  EXPECT_EQ(counter.phases[2].sum, 20u);
  EXPECT_EQ(counter.whole.sum, 50u);
  EXPECT_NE(printed(counter).find("not seen"), std::string::npos);
}

TEST(PhaseCounterTest, AnOperationThatDidNotEndIsForgotten) {
  weft_phase_counter counter = made(3);
  WEFT_PHASE(&counter, 1);
  WEFT_PHASE(&counter, 2);
  WEFT_PHASE(&counter, 1);
  WEFT_PHASE(&counter, 3);
  weft_phase_record(&counter);
  EXPECT_EQ(counter.phases[0].count, 0u);
  EXPECT_EQ(counter.whole.count, 1u);
}

TEST(PhaseCounterTest, QuantilesAreOfAllOperations) {
  weft_phase_counter counter = made(2);
  counter.overhead = 0;
  for (uint64_t i = 1; i <= 1000; ++i) pass(counter, {1, 1 + i});
  EXPECT_NEAR(weft_phase_quantile(&counter, &counter.whole, 0.5), 500, 500.0 / 16);
  EXPECT_NEAR(weft_phase_quantile(&counter, &counter.whole, 0.99), 990, 990.0 / 16);
  EXPECT_NEAR(weft_phase_mean(&counter, &counter.whole), 500.5, 0.01);
}

TEST(PhaseCounterTest, ThreadsCountersMerge) {
  std::vector<weft_phase_counter> counters(4, made(2));
  std::vector<std::thread> threads;
  for (weft_phase_counter& counter : counters)
    threads.emplace_back([&counter] {
      weft_phase_init(&counter, 2);
      for (int i = 0; i < 100; ++i) {
        WEFT_PHASE(&counter, 1);
        WEFT_PHASE(&counter, 2);
        weft_phase_record(&counter);
      }
    });
  for (std::thread& thread : threads) thread.join();
  weft_phase_counter all = made(2);
  for (const weft_phase_counter& counter : counters) weft_phase_merge(&all, &counter);
  EXPECT_EQ(all.whole.count, 400u);
  EXPECT_EQ(all.phases[0].count, 400u);
}

TEST(PhaseCounterTest, TicksBecomeNanoseconds) {
  weft_phase_counter counter = made(2);
  const uint64_t begin_ns = weft_phase_now_ns();
  const uint64_t begin = weft_phase_now(&counter);
  while (weft_phase_now_ns() - begin_ns < 5'000'000) {
  }
  const uint64_t ticks = weft_phase_now(&counter) - begin;
  EXPECT_GE(static_cast<double>(ticks) * weft_phase_ns_per_tick(&counter), 0.9 * 5e6);
}

TEST(PhaseCounterTest, TheClockServesWhereTicksCannot) {
  weft_phase_counter counter = made(2);
  counter.has_ticks = 0;
  const uint64_t before = weft_phase_now_ns();
  EXPECT_GE(weft_phase_now(&counter), before);
  EXPECT_EQ(weft_phase_ns_per_tick(&counter), 1);
}

TEST(PhaseCounterTest, TheTableHasAColumnPerPhase) {
  weft_phase_counter counter = made(7);
  for (int k = 1; k <= 7; ++k) WEFT_PHASE(&counter, k);
  weft_phase_record(&counter);
  const std::string table = printed(counter);
  for (const char* wanted : {"clients", "whole", "P2 - P1", "P7 - P6", "N = 2", "mean", "p50", "p99", "ns"})
    EXPECT_NE(table.find(wanted), std::string::npos) << wanted << " in\n" << table;
}

TEST(PhaseCounterTest, ANumberOfPointsThatCannotBeBecomesTheNearest) {
  EXPECT_EQ(made(-3).points, 2);
  EXPECT_EQ(made(1000).points, WEFT_PHASES);
}

TEST(PhaseCounterTest, PointsThatCannotBeAreIgnored) {
  weft_phase_counter counter = made(3);
  const weft_phase_counter before = counter;
  for (const int point : {-1, 0, WEFT_PHASES + 1, 40}) weft_phase_mark(&counter, point);
  EXPECT_EQ(std::memcmp(&before, &counter, sizeof counter), 0);
}

TEST(PhaseCounterTest, AHeadOfTooManyPointsAndNoNameIsNoCrash) {
  char* text = nullptr;
  size_t size = 0;
  FILE* out = open_memstream(&text, &size);
  weft_phase_print_head(out, 99, nullptr);
  weft_phase_counter counter = made(2);
  weft_phase_print(out, nullptr, &counter);
  fclose(out);
  EXPECT_NE(std::string(text, size).find("P16 - P15\n"), std::string::npos);
  std::free(text);
}

TEST(PhaseCounterTest, CSeesTheSame) {
  weft_phase_counter counter = made(2);
  EXPECT_EQ(phase_counter_in_c(&counter), 2);
  EXPECT_EQ(counter.whole.count, 1u);
}

TEST(PhaseCounterTest, SwitchedOffItIsNothing) {
  weft_phase_counter counter = made(2);
  EXPECT_EQ(phase_counter_switched_off(&counter), sizeof(counter));
  EXPECT_EQ(counter.whole.count, 0u);
}

}  // namespace
