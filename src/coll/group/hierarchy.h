// SPDX-License-Identifier: Apache-2.0
// Trees by which many ranks talk, so that no rank waits for all others one after the other: the leader of a part talks
// for the part.
//
// The ranks stand in an order in which each part is an interval, and parts lie within larger parts. The leader of a
// part is the root, if it is in there, else the part's first rank.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "coll/group/location.h"

namespace weft::coll {

// Up to so many ranks, each rank looks at all others itself.
inline constexpr int kMostFlat = 16;

class Hierarchy {
 public:
  // The tree of `size` ranks in the order of their numbers: parts of 8, of 64, of 512, all. It does not depend on
  // locations, so that the results of reductions do not.
  explicit Hierarchy(int size) noexcept;
  // The tree of ranks in the order of their locations: parts of 8 with a common cache, caches, NUMA nodes, all.
  Hierarchy(int size, const Location* locations) noexcept;

  // The parent of a rank; -1: the rank is the root.
  int parent(int rank, int root) const noexcept {
    for (int level = 0; level < kLevels; ++level) {
      if (const int other = leader(level, rank, root); other != rank) return other;
    }
    return -1;
  }
  // Calls each(child), from the last one in the order to the first.
  template <class Each>
  void each_child(int rank, int root, Each each) const noexcept {
    for (int level = kLevels - 1; level >= 0; --level) {
      if (leader(level, rank, root) != rank) continue;
      const Part part = part_of(level, rank);
      for (int at = part.end; at > part.begin;) {
        const int last = order_[at - 1];
        at = level == 0 ? at - 1 : part_of(level - 1, last).begin;
        const int child = level == 0 ? last : leader(level - 1, last, root);
        if (child != rank) each(child);
      }
    }
  }
  // The leader of the rank's NUMA node, where the order is by locations.
  int leader_of_node(int rank, int root) const noexcept { return leader(kNode, rank, root); }

 private:
  static constexpr int kLevels = 4, kNode = 2;

  // An interval of the order.
  struct Part {
    int begin, end;
  };
  // `together(level, a, b)`: whether the part of a level that begins at position a of the order reaches to b.
  template <class Together>
  void divide(Together together) noexcept;
  void make_room() noexcept;

  const Part& part_of(int level, int rank) const noexcept { return parts_[level * size_ + at_[rank]]; }
  int leader(int level, int rank, int root) const noexcept {
    const Part& part = part_of(level, rank);
    const int root_at = at_[root];
    return root_at >= part.begin && root_at < part.end ? root : order_[part.begin];
  }

  const int size_;
  std::unique_ptr<int[]> order_;  // ranks
  std::unique_ptr<int[]> at_;  // the position of each rank in the order
  std::unique_ptr<Part[]> parts_;  // by level, then by position in the order
};

}  // namespace weft::coll
