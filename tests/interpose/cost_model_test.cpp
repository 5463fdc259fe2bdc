// SPDX-License-Identifier: Apache-2.0
// Which way calls go, by what they have taken either way.
#include <gtest/gtest.h>

#include <functional>

#include "interpose/cost_model.h"

namespace {

using weft::interpose::Grain;
using weft::interpose::Way;

// A routine of its own for each test.
const void* new_routine() {
  static char routines[64];
  static int next = 0;
  return &routines[next++];
}

struct Took {
  int64_t ns = 0;
  bool helped = false;
};

// How many of `count` calls were not divided.
int run(Grain* grain, int count, const std::function<Took(Way)>& call) {
  int alone = 0;
  for (int i = 0; i < count; ++i) {
    const Grain::Plan plan = grain->plan();
    const Took took = call(plan.way);
    if (plan.timed || took.helped) grain->ran(plan, took.ns, took.helped);
    alone += plan.way == Way::alone ? 1 : 0;
  }
  return alone;
}

Took gains_nothing(Way way) { return {way == Way::divided ? 20'000 : 3'000}; }
Took gains(Way way) { return {way == Way::divided ? 20'000 : 38'000}; }
Took waits(Way way) { return {20'000, way != Way::divided}; }

constexpr int kToLearn = 2 * (Grain::kSamples + 1) + Grain::kTrials;

TEST(GrainTest, OneThatGainsNothingIsNotDivided) {
  Grain* grain = Grain::of(new_routine(), 2, 100, 100);
  EXPECT_EQ(run(grain, kToLearn, gains_nothing), Grain::kSamples + 1);
  EXPECT_EQ(run(grain, 100, gains_nothing), 100);
}

TEST(GrainTest, OneThatGainsIsDivided) {
  Grain* grain = Grain::of(new_routine(), 2, 100, 100);
  run(grain, kToLearn, gains);
  EXPECT_EQ(run(grain, 1000, gains), 0);
}

TEST(GrainTest, LongOnesAreNotTried) {
  Grain* grain = Grain::of(new_routine(), 2, 4000, 4000);
  const int alone = run(grain, 10'000, [](Way way) {
    EXPECT_EQ(way, Way::divided);
    return Took{2 * Grain::kLongNs};
  });
  EXPECT_EQ(alone, 0);
}

TEST(GrainTest, OneThatTakesFarLongerAloneIsNotTriedToTheEnd) {
  Grain* grain = Grain::of(new_routine(), 64, 1000, 1000);
  const int alone = run(grain, 1000, [](Way way) { return Took{way == Way::divided ? 50'000 : 3'000'000}; });
  EXPECT_EQ(alone, 2);
}

TEST(GrainTest, JobsThatWaitForEachOtherAreDividedWhateverTheirSize) {
  const void* routine = new_routine();
  Grain* grain = Grain::of(routine, 2, 100, 100);
  Grain* known = Grain::of(routine, 2, 1000, 100);
  EXPECT_EQ(run(grain, 10'000, waits), 0);
  EXPECT_EQ(run(known, 10'000, gains_nothing), 0);
  EXPECT_EQ(run(Grain::of(routine, 4, 100, 100), 10'000, gains_nothing), 0);
  EXPECT_GT(run(Grain::of(new_routine(), 2, 100, 100), 10'000, gains_nothing), 0);
}

TEST(GrainTest, JobsThatSeldomWaitAreFoundToo) {
  Grain* grain = Grain::of(new_routine(), 2, 100, 100);
  run(grain, kToLearn, gains_nothing);
  EXPECT_EQ(run(grain, 1, waits), 1);
  EXPECT_EQ(run(grain, 10'000, gains_nothing), 0);
}

TEST(GrainTest, ACallerThatHasLostItsCpuOnceDoesNotWait) {
  Grain* grain = Grain::of(new_routine(), 2, 100, 100);
  bool lost = false;
  const int alone = run(grain, 100, [&](Way way) {
    Took took = gains_nothing(way);
    if (way == Way::trial && !lost) took.helped = lost = true;
    return took;
  });
  EXPECT_GT(alone, 50);
}

TEST(GrainTest, SomeThatAreHeldUpDoNotMatter) {
  Grain* grain = Grain::of(new_routine(), 2, 100, 100);
  int call = 0;
  run(grain, kToLearn, [&](Way way) {
    Took took = gains_nothing(way);
    if (++call % 3 == 0) took.ns = way == Way::divided ? 5'000'000 : 60'000;
    return took;
  });
  EXPECT_EQ(run(grain, 100, gains_nothing), 100);
}

TEST(GrainTest, IsMeasuredAgain) {
  Grain* grain = Grain::of(new_routine(), 2, 100, 100);
  run(grain, kToLearn, gains_nothing);
  run(grain, static_cast<int>(Grain::kFirstRest) + kToLearn, gains);
  EXPECT_EQ(run(grain, 100, gains), 0);
  run(grain, static_cast<int>(Grain::kFirstRest) + kToLearn, gains_nothing);
  EXPECT_EQ(run(grain, 100, gains_nothing), 100);
}

TEST(GrainTest, IsMeasuredLessAndLessOften) {
  Grain* grain = Grain::of(new_routine(), 2, 100, 100);
  constexpr int kCalls = 1'000'000;
  const int alone = run(grain, kCalls, gains_nothing);
  EXPECT_GT(alone, kCalls - 20 * kToLearn);
}

TEST(GrainTest, KindsAreKeptApart) {
  const void* routine = new_routine();
  Grain* grain = Grain::of(routine, 2, 100, 100);
  EXPECT_EQ(Grain::of(routine, 2, 127, 64), grain);
  EXPECT_NE(Grain::of(routine, 2, 128, 100), grain);
  EXPECT_NE(Grain::of(routine, 2, 100, 128), grain);
  EXPECT_NE(Grain::of(routine, 3, 100, 100), grain);
  EXPECT_NE(Grain::of(new_routine(), 2, 100, 100), grain);
}

TEST(GrainTest, ThereMayBeMoreKindsThanPlaces) {
  const void* routine = new_routine();
  int without = 0;
  for (int count = 2; count < 2000; ++count) without += Grain::of(routine, count, 10, 10) == nullptr ? 1 : 0;
  EXPECT_GT(without, 0);
}

}  // namespace
