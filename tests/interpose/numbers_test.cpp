// SPDX-License-Identifier: Apache-2.0
#include "interpose/numbers.h"

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/sched/start.h"

namespace {

using weft::interpose::Numbers;

// Whoever waits does so by the core.
class NumbersTest : public testing::Test {
 protected:
  void SetUp() override { weft::core::start({.slots = 2, .stack_size = 256 * 1024, .spin_ns = 20'000}); }
};

TEST_F(NumbersTest, NoneIsGivenTwice) {
  constexpr int kMost = 16;
  Numbers numbers;
  numbers.set_most(kMost);
  std::array<std::atomic<int>, kMost> users{};
  std::atomic<bool> twice{false};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&, count = caller % 3 == 0 ? kMost : 1 + caller] {
      std::array<uint16_t, kMost> mine{};
      for (int i = 0; i < 2000; ++i) {
        numbers.take(0, count, mine.data());
        for (int k = 0; k < count; ++k) twice = twice || users[mine[static_cast<size_t>(k)]].fetch_add(1) != 0;
        for (int k = 0; k < count; ++k) users[mine[static_cast<size_t>(k)]].fetch_sub(1);
        numbers.put(count, mine.data());
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_FALSE(twice);
}

// Without an order a call that needs all would find some taken each time.
TEST_F(NumbersTest, ACallThatNeedsAllHasItsTurnBesideSmallOnes) {
  constexpr int kMost = 4;
  Numbers numbers;
  numbers.set_most(kMost);
  std::array<uint16_t, kMost> held{};
  numbers.take(0, 1, held.data());
  std::atomic<bool> has_all{false};
  std::thread large([&] {
    std::array<uint16_t, kMost> mine{};
    numbers.take(0, kMost, mine.data());
    has_all = true;
    numbers.put(kMost, mine.data());
  });
  while (!numbers.has_queue()) usleep(1000);
  std::atomic<bool> came_before{false};
  std::thread small([&] {
    std::array<uint16_t, kMost> mine{};
    numbers.take(0, 1, mine.data());
    came_before = !has_all;
    numbers.put(1, mine.data());
  });
  usleep(50'000);
  numbers.put(1, held.data());
  large.join();
  small.join();
  EXPECT_FALSE(came_before);
}

TEST_F(NumbersTest, TheChildOfAForkFindsAllFree) {
  Numbers numbers;
  numbers.set_most(2);
  std::array<uint16_t, 2> mine{};
  numbers.take(0, 2, mine.data());
  numbers.before_fork();
  numbers.after_fork(true);
  numbers.take(0, 2, mine.data());
  EXPECT_EQ((std::set<uint16_t>{mine[0], mine[1]}), (std::set<uint16_t>{0, 1}));
}

}  // namespace
