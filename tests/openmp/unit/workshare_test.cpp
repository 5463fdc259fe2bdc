// SPDX-License-Identifier: Apache-2.0
// How many iterations members of a loop take at once, and whose when they have nothing left.
#include "openmp/record/workshare.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace weft::openmp;

constexpr int kMembers = 4;
constexpr uint64_t kEach = 16;

// Takes everything of one member alone; from which members' parts it came, in that order.
std::vector<int> order_of(int member, const Placement* near) {
  Workshare share;
  share.near = near;
  EXPECT_TRUE(share_static_loop(&share, 1, kMembers * kEach, kMembers, {}, false));
  std::vector<int> order;
  std::vector<int> hits(kMembers * kEach);
  uint64_t had_last = 0;
  for (Chunk chunk; next_of_share(&share, member, had_last, &chunk);) {
    for (uint64_t i = chunk.begin; i < chunk.end; ++i) ++hits[i];
    const int owner = static_cast<int>(chunk.begin / kEach);
    if (order.empty() || order.back() != owner) order.push_back(owner);
  }
  EXPECT_EQ(hits, std::vector<int>(kMembers * kEach, 1));
  delete[] share.ranges.load();
  return order;
}

TEST(Workshare, TakesHalfWithinBounds) {
  constexpr ChunkRange::Bounds kBounds{4, 16};
  EXPECT_EQ(kBounds.of(100), 16U);
  EXPECT_EQ(kBounds.of(20), 10U);
  EXPECT_EQ(kBounds.of(6), 4U);
  EXPECT_EQ(kBounds.of(3), 3U);
  EXPECT_EQ(ChunkRange::Bounds{}.of(100), 1U);

  ChunkRange range;
  range.set(0, 50);
  std::vector<uint64_t> sizes;
  uint64_t taken = 0;
  for (uint64_t first = 0, end = 0; range.take(kBounds, &first, &end);) {
    EXPECT_EQ(first, taken);
    taken = end;
    sizes.push_back(end - first);
  }
  EXPECT_EQ(sizes, (std::vector<uint64_t>{16, 16, 9, 4, 4, 1}));
}

TEST(Workshare, HelpsItsNeighboursInTurn) {
  EXPECT_EQ(order_of(1, nullptr), (std::vector<int>{1, 2, 3, 0}));
  EXPECT_EQ(order_of(3, nullptr), (std::vector<int>{3, 0, 1, 2}));
}

TEST(Workshare, HelpsItsOwnPlaceFirst) {
  // Members 0 and 1 at one place, 2 and 3 at the other.
  const Placement two{Placement::Kind::spread, {0, {0, 2}}, kMembers};
  EXPECT_EQ(order_of(1, &two), (std::vector<int>{1, 0, 2, 3}));
  EXPECT_EQ(order_of(2, &two), (std::vector<int>{2, 3, 0, 1}));
  // Each at its own.
  const Placement four{Placement::Kind::spread, {0, {0, 4}}, kMembers};
  EXPECT_EQ(order_of(1, &four), (std::vector<int>{1, 2, 3, 0}));
}

}  // namespace
