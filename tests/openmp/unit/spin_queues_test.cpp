// SPDX-License-Identifier: Apache-2.0
// Those who spin for a lock in line: in the order in which they have come, but for those that go; nobody is forgotten.
#include "openmp/lock/spin_queues.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "platform/generation.h"

namespace {

using namespace weft::openmp;

using Queues = SpinQueues<16>;

struct Locks {
  uint32_t one = 0;
  uint32_t other = 0;
};

class SpinQueuesTest : public testing::Test {
 protected:
  Queues queues_;
  Locks locks_;
  const void* lock_ = &locks_.one;
};

TEST_F(SpinQueuesTest, GoInTheOrderInWhichTheyHaveCome) {
  for (const int number : {3, 0, 15}) EXPECT_TRUE(queues_.enter(number, lock_));
  EXPECT_TRUE(queues_.is_first(3));
  EXPECT_FALSE(queues_.is_first(0));
  queues_.leave(3, lock_);
  EXPECT_TRUE(queues_.is_first(0));
  EXPECT_FALSE(queues_.is_first(15));
  // It may come again, behind the others.
  EXPECT_TRUE(queues_.enter(3, lock_));
  queues_.leave(0, lock_);
  EXPECT_TRUE(queues_.is_first(15));
  queues_.leave(15, lock_);
  EXPECT_TRUE(queues_.is_first(3));
  queues_.leave(3, lock_);
  EXPECT_TRUE(queues_.enter(7, lock_));
  EXPECT_TRUE(queues_.is_first(7)) << "the queue was empty";
}

TEST_F(SpinQueuesTest, WhoHasLeftIsPassedOver) {
  for (int number = 0; number < 5; ++number) EXPECT_TRUE(queues_.enter(number, lock_));
  queues_.leave(1, lock_);
  queues_.leave(2, lock_);
  queues_.leave(4, lock_);
  EXPECT_FALSE(queues_.enter(1, &locks_.other)) << "its place is still in the queue";
  queues_.leave(0, lock_);
  EXPECT_TRUE(queues_.is_first(3));
  EXPECT_TRUE(queues_.enter(1, lock_));
  EXPECT_FALSE(queues_.is_first(1));
  // The one between has left, and goes with the one before.
  queues_.leave(3, lock_);
  EXPECT_TRUE(queues_.is_first(1));
  queues_.leave(1, lock_);
  // All places are out.
  for (int number = 0; number < 5; ++number) EXPECT_TRUE(queues_.enter(number, lock_));
  EXPECT_TRUE(queues_.is_first(0));
}

TEST_F(SpinQueuesTest, WhoHasLeftComesBackToItsPlace) {
  for (int number = 0; number < 3; ++number) EXPECT_TRUE(queues_.enter(number, lock_));
  queues_.leave(1, lock_);
  EXPECT_TRUE(queues_.enter(1, lock_));
  EXPECT_FALSE(queues_.is_first(1));
  queues_.leave(0, lock_);
  EXPECT_TRUE(queues_.is_first(1));
  EXPECT_FALSE(queues_.is_first(2));
  queues_.leave(1, lock_);
  EXPECT_TRUE(queues_.is_first(2));
}

TEST_F(SpinQueuesTest, TheLastOnesHaveAllLeft) {
  for (int number = 0; number < 4; ++number) EXPECT_TRUE(queues_.enter(number, lock_));
  for (int number = 1; number < 4; ++number) queues_.leave(number, lock_);
  queues_.leave(0, lock_);
  for (int number = 3; number >= 0; --number) EXPECT_TRUE(queues_.enter(number, lock_));
  EXPECT_TRUE(queues_.is_first(3));
}

TEST_F(SpinQueuesTest, LocksHaveQueuesOfTheirOwnOrNone) {
  // Of many locks some meet in the table: these have none while the other one has.
  constexpr int kLocks = 5000;
  std::vector<uint32_t> locks(kLocks);
  EXPECT_TRUE(queues_.enter(0, &locks[0]));
  int refused = 0;
  for (int i = 1; i < kLocks; ++i) {
    if (!queues_.enter(1, &locks[static_cast<size_t>(i)])) {
      ++refused;
      continue;
    }
    EXPECT_TRUE(queues_.is_first(1));
    queues_.leave(1, &locks[static_cast<size_t>(i)]);
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, kLocks / 100);
  EXPECT_TRUE(queues_.is_first(0));
}

// In the child of a fork nobody else is there.
TEST_F(SpinQueuesTest, OfAnotherGenerationNobodyWaits) {
  EXPECT_TRUE(queues_.enter(0, lock_));
  EXPECT_TRUE(queues_.enter(1, lock_));
  EXPECT_TRUE(queues_.enter(2, lock_));
  weft::platform::g_generation.number.fetch_add(1);
  EXPECT_TRUE(queues_.enter(1, lock_));
  EXPECT_TRUE(queues_.is_first(1));
  EXPECT_TRUE(queues_.enter(3, lock_));
  queues_.leave(1, lock_);
  EXPECT_TRUE(queues_.is_first(3));
}

// Threads that go when they are first, or after a while. Two are never first at the same time. Who is patient in the end
// becomes first, and then all places are out.
TEST_F(SpinQueuesTest, OneAtATimeIsFirst) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 20'000;
  std::atomic<int> first{0};
  std::atomic<int> come{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      come.fetch_add(1);
      while (come.load() != kThreads) std::this_thread::yield();
      for (int round = 0; round < kRounds; ++round) {
        if (!queues_.enter(number, lock_)) {
          std::this_thread::yield();
          continue;
        }
        const int patience = (round * 7 + number) % 40;
        bool is_first = false;
        for (int polls = 0; polls < patience && !(is_first = queues_.is_first(number)); ++polls) {
          if (polls % 8 == 7) std::this_thread::yield();
        }
        if (is_first) {
          EXPECT_EQ(first.fetch_add(1), 0);
          // Others come meanwhile, and some of them go.
          for (int i = 0; i < round % 4; ++i) std::this_thread::yield();
          EXPECT_EQ(first.fetch_sub(1), 1);
        }
        queues_.leave(number, lock_);
      }
      while (!queues_.enter(number, lock_)) std::this_thread::yield();
      while (!queues_.is_first(number)) std::this_thread::yield();
      queues_.leave(number, lock_);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int number = 0; number < kThreads; ++number) {
    EXPECT_TRUE(queues_.enter(number, lock_));
    EXPECT_EQ(queues_.is_first(number), number == 0);
  }
}

}  // namespace
