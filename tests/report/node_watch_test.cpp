// SPDX-License-Identifier: Apache-2.0
#include "report/command/node_watch.h"

#include <gtest/gtest.h>

namespace weft::tools::report {
namespace {

node::ProcessStatus process(int pid, int due, int held) {
  node::ProcessStatus made;
  made.pid = pid;
  made.due = due;
  made.held = held;
  made.lent = std::max(0, due - held);
  return made;
}

TEST(NodeWatch, AddsUpWhatAProcessHadOfItsShare) {
  NodeWatch watch;
  auto now = NodeWatch::Clock::now();
  watch.take({}, now);
  using std::chrono::seconds;
  watch.take({process(7, 2, 0), process(8, 2, 4)}, now += seconds(3));
  watch.take({process(8, 2, 1), process(7, 2, 3)}, now += seconds(1));
  watch.take({process(8, 4, 4)}, now += seconds(5));
  const NodeShare share = watch.share_of(7);
  EXPECT_EQ(share.others, 1);
  EXPECT_NEAR(share.share, 8, 1e-6);
  EXPECT_NEAR(share.held, 3, 1e-6);
  EXPECT_NEAR(share.lent, 6, 1e-6);
  EXPECT_NEAR(share.borrowed, 1, 1e-6);
  EXPECT_NE(sharing_text(share).find("its share was 8.00 s of CPU time, of which it lent 6.00 s"), std::string::npos)
      << sharing_text(share);
}

TEST(NodeWatch, OfAProcessThatWasAloneNothingIsSaid) {
  NodeWatch watch;
  watch.take({process(7, 4, 4)}, NodeWatch::Clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(sharing_text(watch.share_of(7)), "");
  EXPECT_EQ(sharing_text(watch.share_of(9)), "");
}

}  // namespace
}  // namespace weft::tools::report
