// SPDX-License-Identifier: Apache-2.0
#include "core/sched/post_tree.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::core::PostTree;
using weft::core::Recipients;
using weft::core::WakeShare;

// How often each member gets the post, and over how many others it comes; the most that one member sends to.
struct Tree {
  std::vector<int> posts;
  std::vector<int> depth;
  int most = 0;

  explicit Tree(int count) : posts(static_cast<size_t>(count)), depth(static_cast<size_t>(count)) {
    // A member has a higher number than the one that sends to it.
    for (int i = 0; i < count; ++i) {
      int sends = 0;
      PostTree::visit_recipients(i, count, [&](int other) {
        EXPECT_GT(other, i);
        ++posts[static_cast<size_t>(other)];
        depth[static_cast<size_t>(other)] = depth[static_cast<size_t>(i)] + 1;
        ++sends;
      });
      most = std::max(most, sends);
    }
  }
};

TEST(PostTreeTest, ReachesEachMemberOnce) {
  for (int count = 2; count < 700; ++count) {
    const Tree tree(count);
    EXPECT_EQ(tree.posts[0], 0);
    for (size_t i = 1; i < tree.posts.size(); ++i) ASSERT_EQ(tree.posts[i], 1) << i << " of " << count;
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

TEST(PostTreeTest, SendsFirstToMembersThatRelay) {
  std::vector<int> order;
  PostTree::visit_recipients(0, 192, [&order](int other) { order.push_back(other); });
  EXPECT_EQ(order, (std::vector<int>{64, 128, 8, 16, 24, 32, 40, 48, 56, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(PostTreeTest, KnowsWhoSendsToAMember) {
  for (const int count : {2, 24, 64, 65, 192, 4096}) {
    for (int i = 0; i < count; ++i) {
      PostTree::visit_recipients(i, count, [&](int other) { ASSERT_EQ(PostTree::sender_of(other), i) << other; });
    }
  }
}

TEST(WakeShareTest, IsAWordThatIsNeverNought) {
  for (const bool by_tree : {false, true}) {
    const WakeShare share = WakeShare::of(WakeShare{3, PostTree::kMostRecipients, by_tree}.word());
    EXPECT_EQ(share.begin, 3);
    EXPECT_EQ(share.end, PostTree::kMostRecipients);
    EXPECT_EQ(share.by_tree, by_tree);
  }
  EXPECT_NE((WakeShare{0, 0, false}.word()), 0u);
  for (const uint64_t served : {uint64_t{0}, uint64_t{7}, uint64_t{1} << 40 | 7}) {
    EXPECT_NE(WakeShare::asleep(served), 0u);
    EXPECT_FALSE(WakeShare::of(WakeShare::asleep(served)).any());
    EXPECT_TRUE(WakeShare::has_served(WakeShare::asleep(served), served));
    EXPECT_FALSE(WakeShare::has_served(WakeShare::asleep(served), served + 1));
  }
}

// Who wakes whom among the recipients of one member, all of which sleep: the first of each part, which gets the rest.
struct Waking {
  const Recipients& recipients;
  std::vector<int> woken;
  int most = 0;

  explicit Waking(const Recipients& list) : recipients(list), woken(static_cast<size_t>(list.size())) {
    wake({0, recipients.size(), true});
  }
  void wake(const WakeShare& share) {
    int wakes = 0;
    share.visit_parts(recipients.relays(), [&](WakeShare rest) {
      ++woken[static_cast<size_t>(rest.begin++)];
      ++wakes;
      if (rest.any()) wake(rest);
    });
    most = std::max(most, wakes);
  }
};

TEST(WakeShareTest, EachIsWokenOnceAndNobodyWakesMany) {
  for (int count = 2; count <= 700; ++count) {
    for (const bool by_tree : {false, true}) {
      if (!by_tree && count > PostTree::kLeastMembers) continue;
      const Recipients recipients = by_tree ? Recipients::by_tree(0, count) : Recipients::by_owner(count);
      const Waking waking(recipients);
      for (const int times : waking.woken) ASSERT_EQ(times, 1) << count;
      EXPECT_LE(waking.most, WakeShare::kMostByOne);
    }
  }
}

TEST(WakeShareTest, WhoSendsToManyWakesFew) {
  const Recipients recipients = Recipients::by_tree(0, 192);
  EXPECT_EQ(recipients.relays(), 9);
  int wakes = 0;
  WakeShare{0, recipients.size(), true}.visit_parts(recipients.relays(), [&](const WakeShare& part) {
    ++wakes;
    // No member that relays gets one that does not.
    EXPECT_TRUE(part.end <= recipients.relays() || part.begin >= recipients.relays());
  });
  EXPECT_EQ(wakes, WakeShare::kWakes);
}

}  // namespace
