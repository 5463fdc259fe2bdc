// SPDX-License-Identifier: Apache-2.0
// The trees of many ranks: each rank has its place in them, and nobody waits for many.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "coll/group/hierarchy.h"

namespace {

using weft::coll::Hierarchy;
using weft::coll::Location;

std::vector<int> children(const Hierarchy& tree, int rank, int root) {
  std::vector<int> found;
  tree.each_child(rank, root, [&](int child) { found.push_back(child); });
  return found;
}

// The lines that are awaited one after the other until `rank` has what all below it have.
int gathered(const Hierarchy& tree, int rank, int root) {
  int at = 0;
  // Those that wait less have arrived before.
  std::vector<int> below;
  for (const int child : children(tree, rank, root)) below.push_back(gathered(tree, child, root));
  std::sort(below.begin(), below.end());
  for (const int time : below) at = std::max(at, time) + 1;
  return at;
}

// Reached by the root, each once.
int reached(const Hierarchy& tree, int rank, int root) {
  int count = 1;
  for (const int child : children(tree, rank, root)) {
    EXPECT_EQ(tree.parent(child, root), rank);
    count += reached(tree, child, root);
  }
  return count;
}

TEST(HierarchyTest, ReachesEachRankOnceFromAnyRoot) {
  std::mt19937 random(7);
  for (const int size : {1, 2, 7, 8, 9, 17, 64, 65, 200, 600}) {
    std::vector<Location> locations(static_cast<size_t>(size));
    for (Location& location : locations) {
      location.node = static_cast<int>(random() % 5) - 1;
      location.cache = location.node * 10 + static_cast<int>(random() % 3);
    }
    for (const Hierarchy& tree : {Hierarchy(size), Hierarchy(size, locations.data())}) {
      for (const int root : {0, size / 3, size - 1}) {
        EXPECT_EQ(tree.parent(root, root), -1);
        EXPECT_EQ(reached(tree, root, root), size) << size << " ranks, root " << root;
      }
    }
  }
}

// Who combines has an interval of ranks: its own first, then its children's, which follow each other.
int interval_end(const Hierarchy& tree, int rank) {
  std::vector<int> below = children(tree, rank, 0);
  EXPECT_TRUE(std::is_sorted(below.rbegin(), below.rend()));
  int end = rank + 1;
  for (auto child = below.rbegin(); child != below.rend(); ++child) {
    EXPECT_EQ(*child, end);
    end = interval_end(tree, *child);
  }
  return end;
}

TEST(HierarchyTest, OfNumbersKeepsTheirOrder) {
  for (const int size : {1, 2, 8, 9, 63, 64, 65, 512, 1000}) EXPECT_EQ(interval_end(Hierarchy(size), 0), size);
}

// Two sockets of 96 cores, with four nodes each, and caches of eight cores; ranks are dealt to nodes in turns.
TEST(HierarchyTest, CrossesNodesOnceEach) {
  constexpr int kRanks = 192, kNodes = 8;
  std::vector<Location> locations;
  for (int rank = 0; rank < kRanks; ++rank) locations.push_back({rank % kNodes, rank % kNodes * 3 + rank / 64});
  const Hierarchy tree(kRanks, locations.data());
  for (const int root : {0, 100}) {
    int between_nodes = 0, between_caches = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      const int parent = tree.parent(rank, root);
      if (parent < 0) continue;
      const Location here = locations[static_cast<size_t>(rank)], there = locations[static_cast<size_t>(parent)];
      between_nodes += here.node != there.node ? 1 : 0;
      between_caches += here.node == there.node && here.cache != there.cache ? 1 : 0;
      EXPECT_EQ(locations[static_cast<size_t>(tree.leader_of_node(rank, root))].node, here.node);
    }
    EXPECT_EQ(between_nodes, kNodes - 1);
    EXPECT_EQ(between_caches, 2 * kNodes);
    // Seven in a cache, two caches, seven nodes; 191 where each one looks at all.
    EXPECT_EQ(gathered(tree, root, root), 16);
  }
}

TEST(HierarchyTest, OfUnknownLocationsWaitsForFewToo) {
  const std::vector<Location> locations(192);
  EXPECT_LE(gathered(Hierarchy(192, locations.data()), 0, 0), 32);
  EXPECT_LE(gathered(Hierarchy(192), 0, 0), 17);
}

}  // namespace
