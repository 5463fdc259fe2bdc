// SPDX-License-Identifier: Apache-2.0
// The decisions about stalls, without threads: fed with counters and a clock.
#include "core/monitor/stall_watch.h"

#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace weft::core;
using Verdict = Probe::Verdict;

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kSecond = 1000 * kMillisecond;
constexpr int64_t kPatience = 10 * kMillisecond;

// A probe, looked at as often as it asks for. `others_ns`: when those that ran before move; `ends`: when the lent
// thread has got something done; it finds nothing more after the last.
struct Course {
  int64_t others_ns = kSecond * 1000;
  std::vector<int64_t> ends;

  Verdict verdict(int64_t until_ns = 100 * kSecond, int64_t* when = nullptr) const {
    Probe probe;
    probe.begin(0, kPatience);
    for (int64_t time = 0; time < until_ns;) {
      time += probe.period_ns(time);
      Probe::Look look{.time_ns = time, .others_moved = time >= others_ns};
      for (const int64_t end : ends) look.lent_progress += time >= end ? 1 : 0;
      look.lent_idle = look.lent_progress == ends.size() && !ends.empty();
      const Verdict verdict = probe.look(look);
      if (when != nullptr) *when = time;
      if (verdict != Verdict::open) return verdict;
    }
    return Verdict::open;
  }
};

TEST(ProbeTest, PollerThatGoesOnWhenTheOtherHasEndedWaits) {
  EXPECT_EQ((Course{.others_ns = 60'000, .ends = {50'000}}.verdict()), Verdict::waits);
  EXPECT_EQ((Course{.others_ns = 20 * kMillisecond + 50'000, .ends = {20 * kMillisecond}}.verdict()), Verdict::waits);
}

TEST(ProbeTest, PollerForSeveralWaits) {
  const int64_t each = 5 * kMillisecond;
  EXPECT_EQ((Course{.others_ns = 3 * each + 20'000, .ends = {each, 2 * each, 3 * each}}.verdict()), Verdict::waits);
}

TEST(ProbeTest, MembersOfEqualLengthCompute) {
  // Those that ran before have a lead of the patience.
  for (const int64_t length : {12, 20, 50, 200, 1000}) {
    const int64_t end = length * kMillisecond;
    EXPECT_EQ((Course{.others_ns = end - kPatience, .ends = {end}}.verdict()), Verdict::computes) << length;
  }
}

TEST(ProbeTest, LentThreadThatGetsSomethingDoneWithoutEffectEndsTheProbe) {
  int64_t when = 0;
  EXPECT_EQ((Course{.others_ns = 10 * kSecond, .ends = {30 * kMillisecond}}.verdict(kSecond, &when)),
            Verdict::computes);
  EXPECT_LT(when, 40 * kMillisecond);
}

TEST(ProbeTest, NothingAtAllShowsNothing) { EXPECT_EQ(Course{}.verdict(), Verdict::open); }

// Members that compute for random times seldom look as if they waited.
TEST(ProbeTest, ChanceIsRare) {
  uint64_t seed = 1;
  const auto random = [&seed](int64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((seed >> 33) % static_cast<uint64_t>(below));
  };
  int waits = 0;
  constexpr int kTrials = 2000;
  for (int i = 0; i < kTrials; ++i) {
    waits +=
        Course{.others_ns = random(50 * kMillisecond), .ends = {random(50 * kMillisecond)}}.verdict() == Verdict::waits;
  }
  EXPECT_LT(waits, kTrials / 12);
}

int functions[100];

TEST(RegionRecordsTest, GangIsWhoHasBeenSeenToWaitTwice) {
  RegionRecords records;
  records.waits(&functions[0], 0);
  EXPECT_FALSE(records.is_gang(&functions[0]));
  records.waits(&functions[0], 0);
  EXPECT_TRUE(records.is_gang(&functions[0]));
  EXPECT_FALSE(records.is_gang(&functions[1]));
}

TEST(RegionRecordsTest, ComputationTakesBackWhatChanceHasSaid) {
  RegionRecords records;
  for (int i = 0; i < 10; ++i) {
    records.waits(&functions[0], 0);
    records.computes(&functions[0]);
    EXPECT_FALSE(records.is_gang(&functions[0]));
  }
}

TEST(RegionRecordsTest, PatienceGrowsWithWhoComputesAndIsShortWithWhoWaits) {
  RegionRecords records;
  const int64_t first = records.patience_ns(&functions[0]);
  records.computes(&functions[0]);
  EXPECT_EQ(records.patience_ns(&functions[0]), 2 * first);
  EXPECT_EQ(records.patience_ns(&functions[1]), first);
  for (int i = 0; i < 30; ++i) records.computes(&functions[0]);
  EXPECT_EQ(records.patience_ns(&functions[0]), kSecond);
  records.waits(&functions[0], 0);
  EXPECT_LT(records.patience_ns(&functions[0]), first);
}

TEST(RegionRecordsTest, ReviewsComeAndGetRarer) {
  RegionRecords records;
  for (int i = 0; i < 2; ++i) records.waits(&functions[0], 0);
  EXPECT_EQ(records.review(kSecond), nullptr);
  EXPECT_EQ(records.review(3 * kSecond), &functions[0]);
  EXPECT_FALSE(records.is_gang(&functions[0]));
  EXPECT_EQ(records.review(3 * kSecond), nullptr);
  // Once more is enough.
  records.waits(&functions[0], 3 * kSecond);
  EXPECT_TRUE(records.is_gang(&functions[0]));
  EXPECT_EQ(records.review(6 * kSecond), nullptr);
  EXPECT_EQ(records.review(8 * kSecond), &functions[0]);
}

TEST(RegionRecordsTest, GangsAreNotForgottenForWantOfRoom) {
  RegionRecords records;
  for (int i = 0; i < 2; ++i) records.waits(&functions[0], 0);
  for (int& function : functions) {
    if (&function != &functions[0]) records.computes(&function);
  }
  EXPECT_TRUE(records.is_gang(&functions[0]));
  for (int& function : functions) {
    for (int i = 0; i < 2; ++i) records.waits(&function, 0);
  }
  EXPECT_TRUE(records.is_gang(&functions[0]));
}

TEST(HopelessTest, OnABusyMachineRealTimeDecides) {
  const auto running = [](int64_t cpu_ns, int64_t real_ns) {
    return is_hopeless({.running = 2, .cpu_ns = cpu_ns, .quiet_ns = cpu_ns, .real_ns = real_ns});
  };
  EXPECT_FALSE(running(2 * kSecond, 2 * kSecond));
  EXPECT_TRUE(running(4 * kSecond, 4 * kSecond));
  // A tenth of a CPU for each.
  EXPECT_FALSE(running(400 * kMillisecond, 4 * kSecond));
  EXPECT_TRUE(running(600 * kMillisecond, 6 * kSecond));
  // Those that have hardly run may go on yet.
  EXPECT_FALSE(running(100 * kMillisecond, 60 * kSecond));
}

TEST(HopelessTest, ThoseThatMoveMayGoOn) {
  Hopeless seen{.running = 2, .cpu_ns = kSecond, .quiet_ns = 10 * kMillisecond, .real_ns = 10 * kSecond};
  EXPECT_FALSE(is_hopeless(seen));
  seen.quiet_ns = kSecond;
  EXPECT_TRUE(is_hopeless(seen));
}

TEST(HopelessTest, SleepersNeedNoCpu) {
  EXPECT_FALSE(is_hopeless({.real_ns = 4 * kSecond}));
  EXPECT_TRUE(is_hopeless({.real_ns = 6 * kSecond}));
}

}  // namespace
