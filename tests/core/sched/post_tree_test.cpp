// SPDX-License-Identifier: Apache-2.0
#include "core/sched/post_tree.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::core::PostTree;

// Who is told how often, and how many tellings lie before it; the most that one member tells.
struct Tree {
  std::vector<int> told;
  std::vector<int> depth;
  int most = 0;

  explicit Tree(int count) : told(static_cast<size_t>(count)), depth(static_cast<size_t>(count)) {
    // A member has a higher number than the one that tells it.
    for (int i = 0; i < count; ++i) {
      int tells = 0;
      PostTree::visit_told(i, count, [&](int other) {
        EXPECT_GT(other, i);
        ++told[static_cast<size_t>(other)];
        depth[static_cast<size_t>(other)] = depth[static_cast<size_t>(i)] + 1;
        ++tells;
      });
      most = std::max(most, tells);
    }
  }
};

TEST(PostTreeTest, TellsEachMemberOnce) {
  for (int count = 2; count < 700; ++count) {
    const Tree tree(count);
    EXPECT_EQ(tree.told[0], 0);
    for (size_t i = 1; i < tree.told.size(); ++i) ASSERT_EQ(tree.told[i], 1) << i << " of " << count;
  }
}

TEST(PostTreeTest, IsFlatAndNarrow) {
  for (const int count : {64, 192, 4096}) {
    const Tree tree(count);
    const int levels = count <= 64 ? 2 : count <= 512 ? 3 : 4;
    EXPECT_EQ(*std::max_element(tree.depth.begin(), tree.depth.end()), levels);
    EXPECT_LE(tree.most, levels * (PostTree::kFanOut - 1));
  }
}

TEST(PostTreeTest, TellsThoseFirstWhoTellOthers) {
  std::vector<int> order;
  PostTree::visit_told(0, 192, [&order](int other) { order.push_back(other); });
  EXPECT_EQ(order, (std::vector<int>{64, 128, 8, 16, 24, 32, 40, 48, 56, 1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
