// SPDX-License-Identifier: Apache-2.0
// Which carriers are near each other, as far as is known.
#include "core/sched/numa_nodes.h"

#include <gtest/gtest.h>

namespace {

using weft::core::CarrierNumaNodes;

TEST(CarrierNumaNodesTest, NothingIsFarThatIsNotKnown) {
  CarrierNumaNodes<8> nodes(1);
  EXPECT_TRUE(nodes.several());
  EXPECT_EQ(nodes.of(3), -1);
  EXPECT_TRUE(nodes.near(3, 4));
  nodes.note(3, 0);
  EXPECT_TRUE(nodes.near(3, 4));
  nodes.note(4, 1);
  EXPECT_FALSE(nodes.near(3, 4));
  EXPECT_FALSE(nodes.near(4, 3));
}

TEST(CarrierNumaNodesTest, FollowsAThreadThatMoves) {
  CarrierNumaNodes<8> nodes(1);
  nodes.note(0, 0);
  nodes.note(7, 1);
  nodes.note(0, 1);
  EXPECT_TRUE(nodes.near(0, 7));
  nodes.note(0, -1);
  EXPECT_EQ(nodes.of(0), -1);
}

TEST(CarrierNumaNodesTest, AMachineHasANode) {
  EXPECT_GE(weft::core::highest_numa_node(), 0);
  EXPECT_FALSE(CarrierNumaNodes<8>(0).several());
}

}  // namespace
