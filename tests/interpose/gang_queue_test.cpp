// SPDX-License-Identifier: Apache-2.0
// Callers that sleep until a gang has ended: nobody sleeps through an end, and one end brings several on.
#include "interpose/gang_queue.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using weft::interpose::await_turn;
using weft::interpose::begin_turn;
using weft::interpose::end_turn;
using weft::interpose::pass_turn_on;
using weft::interpose::turns_ended;

constexpr int64_t kForEverNs = 30'000'000'000;
constexpr auto kSoon = std::chrono::seconds(15);

// Another caller has a gang all the time: to wait makes sense.
class TurnsTest : public testing::Test {
 protected:
  void SetUp() override {
    other_ = std::thread([this] {
      begin_turn();
      has_begun_ = true;
      while (!over_.load()) usleep(100);
      end_turn();
    });
    while (!has_begun_.load()) usleep(100);
    began_ = std::chrono::steady_clock::now();
  }
  void TearDown() override {
    over_ = true;
    other_.join();
  }
  bool is_soon() const { return std::chrono::steady_clock::now() - began_ < kSoon; }

 private:
  std::atomic<bool> has_begun_{false};
  std::atomic<bool> over_{false};
  std::thread other_;
  std::chrono::steady_clock::time_point began_;
};

TEST_F(TurnsTest, AnEndBeforeTheSleepIsSeen) {
  const uint32_t seen = turns_ended();
  std::thread([] {
    begin_turn();
    end_turn();
  }).join();
  await_turn(seen, kForEverNs);
  EXPECT_TRUE(is_soon());
}

TEST_F(TurnsTest, WhoIsWokenPassesItOn) {
  constexpr int kCallers = 4;
  std::atomic<int> asleep{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      const uint32_t seen = turns_ended();
      ++asleep;
      await_turn(seen, kForEverNs);
      pass_turn_on();
    });
  }
  while (asleep.load() < kCallers) usleep(100);
  usleep(20'000);
  begin_turn();
  end_turn();
  for (auto& caller : callers) caller.join();
  EXPECT_TRUE(is_soon());
}

}  // namespace
