// SPDX-License-Identifier: Apache-2.0
// The division of CPUs among permits and the pool.
#include "tcm/division.h"

#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace weft::tcm;

struct Outcome {
  int pool;
  std::vector<int> granted;
  bool operator==(const Outcome&) const = default;
};

Outcome divided(int cpus, int free, PoolDemand pool, std::vector<Demand> demands) {
  std::vector<Demand*> pointers;
  for (Demand& demand : demands) pointers.push_back(&demand);
  const int share = divide(cpus, free, pool, pointers.data(), static_cast<int>(pointers.size()));
  Outcome outcome{share, {}};
  for (const Demand& demand : demands) outcome.granted.push_back(demand.granted);
  return outcome;
}

Demand wants(int most, int least = 0, int priority = 0) { return {.least = least, .most = most, .priority = priority}; }

TEST(DivisionTest, OneGetsWhatItCanUse) {
  EXPECT_EQ(divided(8, 7, {}, {wants(7)}), (Outcome{0, {7}}));
  EXPECT_EQ(divided(8, 7, {}, {wants(3)}), (Outcome{0, {3}}));
  EXPECT_EQ(divided(8, 2, {}, {wants(7)}), (Outcome{0, {2}}));
  EXPECT_EQ(divided(8, 0, {}, {wants(7)}), (Outcome{0, {0}}));
  EXPECT_EQ(divided(8, 8, {.roots = 1, .wanted = 5}, {}), (Outcome{5, {}}));
}

TEST(DivisionTest, SeveralGetEqualParts) {
  EXPECT_EQ(divided(8, 6, {}, {wants(7), wants(7)}), (Outcome{0, {3, 3}}));
  EXPECT_EQ(divided(8, 5, {}, {wants(7), wants(7)}), (Outcome{0, {3, 2}}));
  EXPECT_EQ(divided(8, 6, {}, {wants(1), wants(7)}), (Outcome{0, {1, 5}}));
}

TEST(DivisionTest, ThePoolGetsAPartForEachRoot) {
  // A root, a primary, and six more.
  EXPECT_EQ(divided(8, 6, {.roots = 1, .wanted = 7}, {wants(7)}), (Outcome{3, {3}}));
  // What one does not need is the other's.
  EXPECT_EQ(divided(8, 6, {.roots = 1, .wanted = 1}, {wants(7)}), (Outcome{1, {5}}));
  EXPECT_EQ(divided(8, 6, {.roots = 1, .wanted = 7}, {wants(2)}), (Outcome{4, {2}}));
  // Three roots and a primary: of 16 CPUs a quarter for the permit.
  EXPECT_EQ(divided(16, 12, {.roots = 3, .wanted = 20}, {wants(15)}), (Outcome{9, {3}}));
  // Work without a root of its own, inside of a client's threads.
  EXPECT_EQ(divided(8, 4, {.roots = 0, .wanted = 7}, {wants(7)}), (Outcome{3, {1}}));
}

TEST(DivisionTest, TheLeastComesFirst) {
  EXPECT_EQ(divided(8, 0, {}, {wants(7, 1), wants(7, 1)}), (Outcome{0, {1, 1}}));
  EXPECT_EQ(divided(8, 4, {.roots = 1, .wanted = 7}, {wants(7), wants(4, 4)}), (Outcome{0, {0, 4}}));
}

TEST(DivisionTest, ALeastThatIsNotThereIsWaitedFor) {
  Demand large = wants(6, 5);
  Demand small = wants(7);
  Demand* both[] = {&large, &small};
  divide(8, 4, {}, both, 2);
  EXPECT_FALSE(large.met);
  EXPECT_EQ(large.granted, 0);
  EXPECT_EQ(small.granted, 4);
  divide(8, 6, {}, both, 2);
  EXPECT_TRUE(large.met);
  EXPECT_EQ(large.granted, 5);
  EXPECT_EQ(small.granted, 1);
}

TEST(DivisionTest, MoreThanAllCpusIsNotWaitedFor) {
  Demand demand = wants(100, 100);
  Demand* one[] = {&demand};
  divide(8, 8, {}, one, 1);
  EXPECT_TRUE(demand.met);
  EXPECT_EQ(demand.granted, 8);
}

TEST(DivisionTest, WhatIsFixedStays) {
  Demand rigid = wants(6);
  rigid.fixed = true;
  rigid.granted = 5;
  EXPECT_EQ(divided(8, 6, {}, {rigid, wants(7)}), (Outcome{0, {5, 1}}));
  EXPECT_EQ(divided(8, 2, {}, {rigid, wants(7)}), (Outcome{0, {5, 0}}));
}

TEST(DivisionTest, PrioritiesDivideThePartOfThePermits) {
  EXPECT_EQ(divided(8, 6, {}, {wants(7, 0, 1), wants(7, 0, 2)}), (Outcome{0, {0, 6}}));
  EXPECT_EQ(divided(8, 6, {}, {wants(7, 1, 1), wants(4, 0, 2)}), (Outcome{0, {2, 4}}));
  EXPECT_EQ(divided(8, 6, {.roots = 1, .wanted = 2}, {wants(7, 0, 1), wants(7, 0, 2)}), (Outcome{2, {0, 4}}));
}

TEST(DivisionTest, NothingIsGivenTwice) {
  unsigned seed = 1;
  const auto random = [&seed](int below) {
    seed = seed * 1103515245 + 12345;
    return static_cast<int>(seed >> 16) % below;
  };
  for (int round = 0; round < 20000; ++round) {
    const int cpus = 1 + random(32);
    const int free = random(cpus + 1);
    const PoolDemand pool{.roots = random(3), .wanted = random(40)};
    std::vector<Demand> demands;
    bool all_small = true;
    for (int i = random(6); i > 0; --i) {
      const int most = random(40);
      const int least = std::min(most, random(4) == 0 ? random(8) : random(2));
      all_small = all_small && least <= 1;
      demands.push_back(wants(most, least, random(2)));
    }
    const Outcome outcome = divided(cpus, free, pool, demands);
    int sum = outcome.pool;
    int at_least = 0;
    int could_use = pool.wanted;
    for (size_t i = 0; i < demands.size(); ++i) {
      ASSERT_LE(outcome.granted[i], demands[i].most);
      ASSERT_GE(outcome.granted[i], demands[i].least <= 1 ? demands[i].least : 0);
      sum += outcome.granted[i];
      at_least += demands[i].least;
      could_use += demands[i].most;
    }
    ASSERT_LE(outcome.pool, pool.wanted);
    ASSERT_LE(sum, std::max(free, at_least));
    if (all_small) {
      ASSERT_GE(sum, std::min(free, could_use));
    }
  }
}

}  // namespace
