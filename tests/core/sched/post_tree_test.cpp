// SPDX-License-Identifier: Apache-2.0
#include "core/sched/post_tree.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::core::PostTree;
using weft::core::Told;
using weft::core::Wards;

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

TEST(PostTreeTest, KnowsWhoTellsAMember) {
  for (const int count : {2, 24, 64, 65, 192, 4096}) {
    for (int i = 0; i < count; ++i) {
      PostTree::visit_told(i, count, [&](int other) { ASSERT_EQ(PostTree::teller_of(other), i) << other; });
    }
  }
}

TEST(WardsTest, AreAWordThatIsNeverNought) {
  for (const bool by_tree : {false, true}) {
    const Wards wards = Wards::of(Wards{3, PostTree::kMostTold, by_tree}.word());
    EXPECT_EQ(wards.begin, 3);
    EXPECT_EQ(wards.end, PostTree::kMostTold);
    EXPECT_EQ(wards.by_tree, by_tree);
  }
  EXPECT_NE((Wards{0, 0, false}.word()), 0u);
  for (const uint64_t served : {uint64_t{0}, uint64_t{7}, uint64_t{1} << 40 | 7}) {
    EXPECT_NE(Wards::asleep(served), 0u);
    EXPECT_FALSE(Wards::of(Wards::asleep(served)).any());
    EXPECT_TRUE(Wards::has_served(Wards::asleep(served), served));
    EXPECT_FALSE(Wards::has_served(Wards::asleep(served), served + 1));
  }
}

// Who wakes whom among those that one member has told, all of which sleep: the first of each part, which gets the rest.
struct Waking {
  const Told& told;
  std::vector<int> woken;
  int most = 0;

  explicit Waking(const Told& list) : told(list), woken(static_cast<size_t>(list.size())) {
    wake({0, told.size(), true});
  }
  void wake(const Wards& wards) {
    int wakes = 0;
    wards.visit_parts(told.tellers(), [&](Wards rest) {
      ++woken[static_cast<size_t>(rest.begin++)];
      ++wakes;
      if (rest.any()) wake(rest);
    });
    most = std::max(most, wakes);
  }
};

TEST(WardsTest, EachIsWokenOnceAndNobodyWakesMany) {
  for (int count = 2; count <= 700; ++count) {
    for (const bool by_tree : {false, true}) {
      if (!by_tree && count > PostTree::kLeastMembers) continue;
      const Told told = by_tree ? Told::by_tree(0, count) : Told::by_owner(count);
      const Waking waking(told);
      for (const int times : waking.woken) ASSERT_EQ(times, 1) << count;
      EXPECT_LE(waking.most, Wards::kMostByOne);
    }
  }
}

TEST(WardsTest, WhoTellsManyWakesFew) {
  const Told told = Told::by_tree(0, 192);
  EXPECT_EQ(told.tellers(), 9);
  int wakes = 0;
  Wards{0, told.size(), true}.visit_parts(told.tellers(), [&](const Wards& part) {
    ++wakes;
    // Nobody who tells others gets one that does not.
    EXPECT_TRUE(part.end <= told.tellers() || part.begin >= told.tellers());
  });
  EXPECT_EQ(wakes, Wards::kWakes);
}

}  // namespace
