// SPDX-License-Identifier: Apache-2.0
// Of two threads that each store and then load what the other one stores, at least one sees the other.
#include "platform/asymmetric_fence.h"

#include <atomic>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "platform/cycles.h"

namespace {

using namespace weft::platform;

constexpr int kRounds = 20'000;

struct Dekker {
  alignas(64) std::atomic<int> frequent{0};
  alignas(64) std::atomic<int> rare{0};
  alignas(64) std::atomic<int> arrived{0};
  std::atomic<int> frequent_saw[2] = {};

  void meet(int round) noexcept {
    arrived.fetch_add(1);
    while (arrived.load() < 2 * round) std::this_thread::yield();
  }
};

// The two threads come together in some rounds.
void wait_a_moment(std::minstd_rand& random) noexcept {
  constexpr unsigned kMostPauses = 16;
  for (unsigned i = random() % kMostPauses; i > 0; --i) weft::platform::pause();
}

// In how many rounds neither saw the other. The frequent side has its result in one of two words by turns.
int missed_rounds() {
  Dekker both;
  int missed = 0;
  std::thread other([&both] {
    std::minstd_rand random;
    for (int round = 1; round <= kRounds; ++round) {
      // With what is looked at in its cache this thread looks early, while its own store is still on the way.
      EXPECT_LT(both.rare.load(std::memory_order_relaxed), round);
      both.meet(round);
      wait_a_moment(random);
      both.frequent.store(round, std::memory_order_relaxed);
      light_fence();
      const int seen = both.rare.load(std::memory_order_relaxed);
      both.frequent_saw[round % 2].store(seen == round ? round : -round);
    }
  });
  std::minstd_rand random(2);
  for (int round = 1; round <= kRounds; ++round) {
    both.meet(round);
    wait_a_moment(random);
    both.rare.store(round, std::memory_order_relaxed);
    EXPECT_TRUE(heavy_fence());
    const bool saw = both.frequent.load(std::memory_order_relaxed) == round;
    int result = 0;
    do {
      result = both.frequent_saw[round % 2].load();
      if (result != round && result != -round) std::this_thread::yield();
    } while (result != round && result != -round);
    missed += !saw && result < 0 ? 1 : 0;
  }
  other.join();
  return missed;
}

TEST(AsymmetricFenceTest, OneSeesTheOtherBeforeAndAfterTheKernelIsAsked) {
  EXPECT_EQ(missed_rounds(), 0);
  lighten_fences();
  EXPECT_EQ(missed_rounds(), 0);
}

}  // namespace
