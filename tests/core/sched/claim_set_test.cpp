// SPDX-License-Identifier: Apache-2.0
// Who takes a number out of the set is the only one that does.
#include "core/sched/claim_set.h"

#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::core::ClaimSet;

constexpr auto kAny = [](int) { return true; };

template <int PerWord>
void take_around_the_end() {
  for (const int size : {1, 15, 16, 17, 63, 64, 65, 130, 192}) {
    for (const int from : {0, 1, 16, 63, 64, 65, 129, 191}) {
      if (from >= size) continue;
      ClaimSet<256, PerWord> set;
      set.add_all(size);
      for (int i = 0; i < size; ++i) EXPECT_EQ(set.take(from, size, kAny), (from + i) % size);
      EXPECT_EQ(set.take(from, size, kAny), -1);
      EXPECT_TRUE(set.empty(size));
      EXPECT_TRUE(set.empty(256)) << "one beyond the size";
    }
  }
}

TEST(ClaimSetTest, TakesEachNumberOnceAroundTheEnd) {
  take_around_the_end<64>();
  take_around_the_end<16>();
  take_around_the_end<5>();
}

TEST(ClaimSetTest, FindsWithoutTaking) {
  ClaimSet<192> set;
  for (const int number : {3, 70, 191}) set.add(number);
  std::vector<int> seen;
  const auto note = [&seen](int number) {
    seen.push_back(number);
    return false;
  };
  EXPECT_EQ(set.find(71, 192, note), -1);
  EXPECT_EQ(seen, (std::vector<int>{191, 3, 70}));
  EXPECT_EQ(set.find(4, 192, kAny), 70);
  EXPECT_EQ(set.find(4, 70, kAny), 3);
  EXPECT_TRUE(set.has(70));
}

TEST(ClaimSetTest, PassesOverThoseThatDoNotFit) {
  ClaimSet<128> set;
  set.add_all(128);
  EXPECT_EQ(set.take(0, 128, [](int number) { return number > 100; }), 101);
  EXPECT_EQ(set.take(0, 100, [](int number) { return number >= 100; }), -1);
  EXPECT_FALSE(set.has(101));
  EXPECT_TRUE(set.add(101));
  EXPECT_FALSE(set.add(101));
  EXPECT_TRUE(set.remove(101));
  EXPECT_FALSE(set.remove(101));
  set.remove_all(128);
  EXPECT_TRUE(set.empty(128));
}

// Each member goes in; callers take out. Everybody who goes in comes out once: the sums agree.
TEST(ClaimSetTest, NobodyIsTakenTwice) {
  constexpr int kMembers = 70;
  constexpr int kRounds = 20000;
  ClaimSet<256> set;
  std::atomic<long> went_in{0};
  std::atomic<long> taken{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> callers;
  for (int c = 0; c < 2; ++c) {
    callers.emplace_back([&, c] {
      while (!over.load()) taken += set.take(c * 35, kMembers, kAny) >= 0 ? 1 : 0;
    });
  }
  for (int i = 0; i < kRounds; ++i) went_in += set.add(i % kMembers) ? 1 : 0;
  over = true;
  for (auto& caller : callers) caller.join();
  while (set.take(0, kMembers, kAny) >= 0) ++taken;
  EXPECT_EQ(taken.load(), went_in.load());
  EXPECT_TRUE(set.empty(256));
}

// One stays in while another goes in and is taken out at once: the set is never empty.
TEST(ClaimSetTest, IsNotEmptyWhileSomebodyIsIn) {
  constexpr int kStays = 3;
  constexpr int kComes = 7;
  constexpr auto kTime = std::chrono::milliseconds(1000);
  ClaimSet<256> set;
  set.add(kStays);
  std::atomic<bool> over{false};
  std::thread comer([&] {
    while (!over.load()) set.add(kComes);
  });
  long seen_empty = 0;
  const auto end = std::chrono::steady_clock::now() + kTime;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 1000; ++i) seen_empty += set.remove(kComes) && set.empty(256) ? 1 : 0;
  }
  over = true;
  comer.join();
  EXPECT_EQ(seen_empty, 0);
}

}  // namespace
