// SPDX-License-Identifier: Apache-2.0
// When tokens are taken and given back; and that CPUs that are let go are never more than the tokens and one.
#include "core/budget/job_token_plan.h"

#include <algorithm>
#include <random>
#include <utility>

#include <gtest/gtest.h>

namespace {

using namespace weft::core;

// A process with 8 CPUs, and a jobserver.
class Process {
 public:
  explicit Process(int free) : free(free) {}

  void tick() {
    const int running = std::min(wanted, let_go) + beyond;
    const JobTokenPlan::Change change = plan_.tick({let_go, tokens, wanted, beyond});
    EXPECT_GE(std::min({change.give_back, change.let_go, change.take, change.hold}), 0);
    EXPECT_LE(change.give_back, tokens);
    EXPECT_TRUE(change.hold == 0 || change.let_go + change.take == 0) << "it changes its mind";
    EXPECT_LE(change.hold, let_go - 1) << "the job's own CPU stays";
    tokens -= change.give_back;
    free += change.give_back;
    EXPECT_GE(tokens + 1, std::min(running, tokens_before_ + 1)) << "a CPU in use has lost its token";
    let_go -= change.hold;
    const int taken = std::min(change.take, free);
    free -= taken;
    tokens += taken;
    let_go += change.let_go + taken;
    EXPECT_LE(let_go, tokens + 1);
    tokens_before_ = tokens;
  }
  void tick(int count) {
    for (int i = 0; i < count; ++i) tick();
  }

  int wanted = 1;
  int beyond = 0;
  int let_go = 1;
  int tokens = 0;
  int free;

 private:
  JobTokenPlan plan_;
  int tokens_before_ = 0;
};

TEST(JobTokenPlanTest, TakesWhatItWantsAndWhatIsThere) {
  Process process(5);
  process.tick(10);
  EXPECT_EQ(process.tokens, 0) << "one CPU is the job's own";
  process.wanted = 4;
  process.tick();
  EXPECT_EQ(process.tokens, 3);
  EXPECT_EQ(process.let_go, 4);
  process.wanted = 8;
  process.tick();
  EXPECT_EQ(process.tokens, 5) << "no more are there";
  process.free = 1;
  process.tick();
  EXPECT_EQ(process.tokens, 6);
}

TEST(JobTokenPlanTest, GivesBackWhatItHasNoUseForAndOnlyThen) {
  Process process(7);
  process.wanted = 8;
  process.tick();
  ASSERT_EQ(process.tokens, 7);
  for (int i = 0; i < 100; ++i) {
    process.wanted = i % 4 == 3 ? 8 : 1;
    process.tick();
    EXPECT_EQ(process.tokens, 7) << "serial parts are short";
  }
  process.wanted = 3;
  process.tick(4);
  EXPECT_EQ(process.let_go, 3);
  EXPECT_EQ(process.tokens, 7) << "held back a tick before";
  process.tick();
  EXPECT_EQ(process.tokens, 2);
  process.wanted = 1;
  process.tick(5);
  EXPECT_EQ(process.tokens, 0);
  EXPECT_EQ(process.free, 7);
}

TEST(JobTokenPlanTest, HeldBackCpuIsLetGoAgainWithoutAnotherToken) {
  Process process(7);
  process.wanted = 8;
  process.tick();
  process.wanted = 1;
  process.tick(4);
  ASSERT_EQ(process.let_go, 1);
  process.wanted = 8;
  process.tick();
  EXPECT_EQ(process.let_go, 8);
  EXPECT_EQ(process.tokens, 7);
}

TEST(JobTokenPlanTest, TokenStaysWithACarrierThatComputesOn) {
  Process process(7);
  process.wanted = 8;
  process.tick();
  process.wanted = 3;
  process.tick(4);
  process.beyond = 2;
  process.tick(50);
  EXPECT_EQ(process.tokens, 4) << "two for CPUs that are let go, two for carriers beyond";
  process.beyond = 0;
  process.tick(2);
  EXPECT_EQ(process.tokens, 2);
}

TEST(JobTokenPlanTest, OthersHaveATurn) {
  Process process(7);
  process.wanted = 8;
  process.tick();
  int most_free = 0;
  int least_let_go = 8;
  int ticks_free = 0;
  for (int i = 0; i < 1000; ++i) {
    process.tick();
    most_free = std::max(most_free, process.free);
    least_let_go = std::min(least_let_go, process.let_go);
    ticks_free += process.free > 0 ? 1 : 0;
  }
  EXPECT_EQ(most_free, 2);
  EXPECT_EQ(least_let_go, 6);
  EXPECT_GE(ticks_free, 8);
  EXPECT_LE(ticks_free, 15) << "of 1000 ticks, those in which others may take tokens";
}

TEST(JobTokenPlanTest, TwoProcessesShareInTheEnd) {
  Process first(7);
  Process second(0);
  first.wanted = second.wanted = 8;
  first.tick();
  ASSERT_EQ(first.tokens, 7);
  for (int i = 0; i < 4000; ++i) {
    first.tick();
    second.free = first.free;
    second.tick();
    first.free = second.free;
  }
  EXPECT_EQ(first.tokens + second.tokens + first.free, 7);
  EXPECT_GE(second.tokens, 2);
  EXPECT_GE(first.tokens, 2);
}

TEST(JobTokenPlanTest, NoTokenIsLostOrMadeWhateverHappens) {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    Process process(static_cast<int>(random() % 8));
    int others = 0;
    const int all = process.free;
    for (int i = 0; i < 2000; ++i) {
      if (random() % 16 == 0) process.wanted = 1 + static_cast<int>(random() % 8);
      const int beyond = process.tokens + 1 - process.let_go;
      process.beyond = random() % 4 == 0 ? static_cast<int>(random() % static_cast<unsigned>(beyond + 1)) : 0;
      if (random() % 8 == 0) {
        const int moved = static_cast<int>(random() % static_cast<unsigned>(process.free + 1));
        process.free -= moved;
        others += moved;
      }
      if (random() % 8 == 0) process.free += std::exchange(others, 0);
      process.tick();
      ASSERT_EQ(process.tokens + process.free + others, all);
    }
    process.wanted = 1;
    process.beyond = 0;
    process.tick(10);
    EXPECT_EQ(process.tokens, 0);
  }
}

}  // namespace
