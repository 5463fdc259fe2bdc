// SPDX-License-Identifier: Apache-2.0
// No carrier waits unseen: a thread that has published work finds each carrier that did not see the work.
#include "core/sched/waiting_set.h"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::core::WaitingSet;
namespace platform = weft::platform;

TEST(WaitingSetTest, FindsThoseWhoWaitGroupByGroup) {
  constexpr int kSize = 100;
  WaitingSet<128> set;
  std::array<bool, kSize> marks{};
  const auto waits = [&marks](int number) { return marks[static_cast<size_t>(number)]; };
  std::vector<int> seen;
  const auto note = [&seen](int number) {
    seen.push_back(number);
    return false;
  };
  EXPECT_FALSE(set.any(kSize));
  for (const int number : {3, 17, 18, 99}) {
    marks[static_cast<size_t>(number)] = true;
    set.announce(number);
  }
  EXPECT_TRUE(set.any(kSize));
  set.visit(20, kSize, waits, note);
  EXPECT_EQ(seen, (std::vector<int>{17, 18, 99, 3}));
  seen.clear();
  set.visit(0, kSize, waits, [&](int number) { return note(number) || number == 17; });
  EXPECT_EQ(seen, (std::vector<int>{3, 17}));
  seen.clear();
  set.visit(0, 18, waits, note);
  EXPECT_EQ(seen, (std::vector<int>{3, 17})) << "only those below the size";
}

TEST(WaitingSetTest, ForgetsAGroupInWhichNobodyWaits) {
  WaitingSet<64> set;
  set.announce(40);
  EXPECT_TRUE(set.any(64));
  set.visit(0, 64, [](int) { return false; }, [](int) { return true; });
  EXPECT_FALSE(set.any(64));
}

// Waiters come and go; publishers publish and look, and clear what they find empty. Whoever did not see the work is
// visited by somebody who did: as a rule by who published it. But that one may look while the other one has cleared the
// word and not yet found the waiter.
TEST(WaitingSetTest, WaiterOrPublisherSeesTheOther) {
  constexpr int kWaiters = 3;
  constexpr int kRounds = 300;
  WaitingSet<16> set;
  std::array<std::atomic<bool>, kWaiters> marks{};
  std::array<std::atomic<int>, kWaiters> seen_work{};  // the publication that a waiter has looked for, and found or not
  std::array<std::atomic<int>, kWaiters> visited_for{};  // the last publication that it has been visited behind
  std::atomic<int> work{0};
  std::atomic<int> arrived{0};
  std::atomic<int> missed{0};
  const auto waits = [&marks](int number) {
    return number < kWaiters && marks[static_cast<size_t>(number)].load(std::memory_order_relaxed);
  };
  // All meet at each round's begin and end.
  const auto meet = [&arrived](int meetings) {
    arrived.fetch_add(1);
    while (arrived.load() < meetings * (kWaiters + 2)) std::this_thread::yield();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kWaiters; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 1; round <= kRounds; ++round) {
        meet(3 * round - 2);
        marks[static_cast<size_t>(i)].store(true, std::memory_order_relaxed);
        platform::full_fence();
        set.announce(i);
        seen_work[static_cast<size_t>(i)].store(work.load(std::memory_order_relaxed), std::memory_order_relaxed);
        meet(3 * round - 1);
        meet(3 * round);
        marks[static_cast<size_t>(i)].store(false, std::memory_order_relaxed);
      }
    });
  }
  for (int publisher = 0; publisher < 2; ++publisher) {
    threads.emplace_back([&, publisher] {
      for (int round = 1; round <= kRounds; ++round) {
        meet(3 * round - 2);
        if (publisher == 0) work.store(round, std::memory_order_relaxed);
        platform::full_fence();
        set.visit(0, 16, waits, [&](int number) {
          if (work.load(std::memory_order_relaxed) == round) visited_for[static_cast<size_t>(number)].store(round);
          return false;
        });
        meet(3 * round - 1);
        if (publisher == 0) {
          for (int i = 0; i < kWaiters; ++i) {
            const size_t at = static_cast<size_t>(i);
            if (seen_work[at].load(std::memory_order_relaxed) != round && visited_for[at].load() != round) ++missed;
          }
          // And behind it, all are found that wait.
          int now = 0;
          set.visit(0, 16, waits, [&now](int) {
            ++now;
            return false;
          });
          if (now != kWaiters) ++missed;
        }
        meet(3 * round);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missed.load(), 0);
}

}  // namespace
