// SPDX-License-Identifier: Apache-2.0
// Snapshots as they may be, and whom each lost CPU is charged to.
#include "observe/account/blame.h"

#include <memory>
#include <numeric>

#include <gtest/gtest.h>

namespace weft::observe {
namespace {

constexpr double kTick = 1000;

const void* at(uintptr_t address) { return reinterpret_cast<const void*>(address); }

class BlameTest : public ::testing::Test {
 protected:
  static constexpr int kCpus = 4;

  BlameTest() {
    serial_ = nodes_->child(0, Kind::serial, nullptr);
    region_ = nodes_->child(serial_, Kind::region, at(0x10));
    loop_ = nodes_->child(region_, Kind::loop, at(0x20));
    single_ = nodes_->child(region_, Kind::single, at(0x30));
    barrier_ = nodes_->child(region_, Kind::barrier, at(0x40));
    lock_ = nodes_->child(loop_, Kind::lock, at(0x50));
    inner_ = nodes_->child(loop_, Kind::region, at(0x60));
    task_ = nodes_->child(region_, Kind::task, at(0x70));
    call_ = nodes_->child(serial_, Kind::call, at(0x80));
    inner_call_ = nodes_->child(loop_, Kind::call, at(0x90));
    (*nodes_)[region_].members = kCpus;
    (*nodes_)[inner_].members = 1;
  }

  Shown shown(ConstructId node, State state, bool primary = false, bool left = false) {
    Shown made;
    made.node = node;
    made.state = state;
    made.primary = primary;
    made.left = left;
    made.carrier = left ? -1 : next_carrier_++;
    return made;
  }
  double take(const std::vector<Shown>& seen) {
    ++snapshots_;
    return Blame(*nodes_, ledger_, kCpus).take(seen, kTick);
  }
  // Each snapshot hands out all CPUs, and no more.
  void TearDown() override { EXPECT_DOUBLE_EQ(handed_out(), snapshots_ * kCpus); }

  double lost(ConstructId node, Loss why) { return ledger_.at(node).lost[static_cast<size_t>(why)] / kTick; }
  double useful(ConstructId node) { return ledger_.at(node).useful / kTick; }
  double handed_out() {
    double sum = 0;
    for (ConstructId node = 0; node < ledger_.size(); ++node) {
      const Account& account = ledger_.at(node);
      sum += account.useful + account.unwatched + std::accumulate(account.lost.begin(), account.lost.end(), 0.0);
    }
    return sum / kTick;
  }

  std::unique_ptr<ConstructTree> nodes_ = std::make_unique<ConstructTree>();
  Ledger ledger_;
  ConstructId serial_, region_, loop_, single_, barrier_, lock_, inner_, task_, call_, inner_call_;
  int next_carrier_ = 0;
  int snapshots_ = 0;
};

TEST_F(BlameTest, OutsideOfRegionsAllOthersAreLostToTheSerialPart) {
  take({shown(serial_, State::work, true)});
  EXPECT_DOUBLE_EQ(useful(serial_), 1);
  EXPECT_DOUBLE_EQ(lost(serial_, Loss::serial), 3);
}

TEST_F(BlameTest, MembersThatWaitAreLostToTheLoopInWhichOthersWork) {
  take({shown(loop_, State::work, true), shown(loop_, State::work), shown(loop_, State::wait_barrier),
        shown(loop_, State::wait_barrier)});
  EXPECT_DOUBLE_EQ(useful(loop_), 2);
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::imbalance), 2);
}

TEST_F(BlameTest, ALoopThatIsNotToldIsNamedByTheBarrierBehindIt) {
  take({shown(region_, State::work, true), shown(barrier_, State::wait_barrier), shown(barrier_, State::wait_barrier),
        shown(barrier_, State::wait_barrier)});
  EXPECT_DOUBLE_EQ(lost(barrier_, Loss::imbalance), 3);
  EXPECT_DOUBLE_EQ(lost(region_, Loss::imbalance), 0);
}

TEST_F(BlameTest, WhereAllWaitItIsOverhead) {
  take({shown(loop_, State::wait_barrier, true), shown(loop_, State::wait_barrier), shown(loop_, State::wait_barrier),
        shown(loop_, State::wait_barrier)});
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::overhead), 4);
}

TEST_F(BlameTest, MembersThatHaveNotBegunAreOverheadToo) {
  take({shown(region_, State::wait_barrier, true)});
  EXPECT_DOUBLE_EQ(lost(region_, Loss::overhead), 4);
}

TEST_F(BlameTest, ASingleRegionIsASerialPart) {
  take({shown(single_, State::work), shown(single_, State::wait_barrier, true), shown(single_, State::wait_barrier),
        shown(single_, State::wait_barrier)});
  EXPECT_DOUBLE_EQ(lost(single_, Loss::serial), 3);
}

TEST_F(BlameTest, ASingleRegionBesideOthersThatWorkIsNone) {
  take({shown(single_, State::work), shown(loop_, State::work, true), shown(loop_, State::wait_barrier),
        shown(loop_, State::wait_barrier)});
  EXPECT_DOUBLE_EQ(lost(single_, Loss::serial), 0);
}

TEST_F(BlameTest, LocksAreTheLocksFault) {
  take({shown(loop_, State::work, true), shown(lock_, State::wait_lock), shown(lock_, State::wait_lock),
        shown(lock_, State::wait_lock)});
  EXPECT_DOUBLE_EQ(lost(lock_, Loss::synchronisation), 3);
}

TEST_F(BlameTest, WhoSleepsBeforeALockWouldUseAnIdleCpu) {
  take({shown(loop_, State::work, true), shown(lock_, State::wait_lock, false, true),
        shown(lock_, State::wait_lock, false, true), shown(lock_, State::wait_lock, false, true)});
  EXPECT_DOUBLE_EQ(lost(lock_, Loss::synchronisation), 3);
}

TEST_F(BlameTest, SleepersAreNoLossWhereAllCpusWork) {
  take({shown(loop_, State::work, true), shown(loop_, State::work), shown(loop_, State::work),
        shown(loop_, State::work), shown(loop_, State::wait_barrier, false, true)});
  EXPECT_DOUBLE_EQ(useful(loop_), 4);
}

TEST_F(BlameTest, MembersThatHaveEndedAreLostToTheOthers) {
  take({shown(loop_, State::work, true), shown(loop_, State::work)});
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::imbalance), 2);
  EXPECT_DOUBLE_EQ(lost(region_, Loss::few_threads), 0);
}

TEST_F(BlameTest, MembersThatHaveEndedAreLostToInnerRegionsOfTheOthersToo) {
  take({shown(loop_, State::work, true), shown(inner_, State::work, true)});
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::imbalance), 2);
}

TEST_F(BlameTest, ATeamSmallerThanTheMachine) {
  (*nodes_)[region_].members = 2;
  take({shown(loop_, State::work, true), shown(loop_, State::work)});
  EXPECT_DOUBLE_EQ(lost(region_, Loss::few_threads), 2);
}

TEST_F(BlameTest, InnerRegionsOfOneMemberAreTooFew) {
  (*nodes_)[region_].members = 2;
  take({shown(inner_, State::work, true), shown(inner_, State::work, true)});
  EXPECT_DOUBLE_EQ(useful(inner_), 2);
  EXPECT_DOUBLE_EQ(lost(inner_, Loss::few_threads), 2);
}

TEST_F(BlameTest, PausedTasksThatAwaitMessages) {
  take({shown(region_, State::wait_barrier, true), shown(task_, State::wait_messages, false, true),
        shown(task_, State::wait_messages, false, true), shown(task_, State::wait_messages, false, true)});
  // Also that of the primary: it waits for them.
  EXPECT_DOUBLE_EQ(lost(task_, Loss::transfer), 4);
}

// Members of libraries let others run while they wait for each other (OpenBLAS: sched_yield).
TEST_F(BlameTest, WhoLeavesItsCpuOutsideOfCallsAwaitsNoMessages) {
  take({shown(region_, State::wait_barrier, true), shown(task_, State::work, false, true),
        shown(task_, State::runtime, false, true), shown(loop_, State::unwatched_chunks, false, true)});
  EXPECT_DOUBLE_EQ(lost(task_, Loss::transfer) + lost(loop_, Loss::transfer), 0);
  EXPECT_DOUBLE_EQ(lost(task_, Loss::blocked) + lost(loop_, Loss::blocked), 4);
  take({shown(task_, State::work, false, true)});
  EXPECT_DOUBLE_EQ(lost(task_, Loss::transfer), 0);
  take({shown(inner_call_, State::wait_messages, false, true), shown(task_, State::work, false, true)});
  EXPECT_DOUBLE_EQ(lost(inner_call_, Loss::transfer), 2);
  EXPECT_DOUBLE_EQ(lost(task_, Loss::transfer), 0);
  EXPECT_DOUBLE_EQ(handed_out(), 3 * kCpus);
}

TEST_F(BlameTest, ACallThatWaitsKeepsAllCpusFromWork) {
  take({shown(call_, State::wait_messages, true)});
  EXPECT_DOUBLE_EQ(useful(call_), 0);
  EXPECT_DOUBLE_EQ(lost(call_, Loss::transfer), 4);
}

TEST_F(BlameTest, ACallThatWaitsBesideOthersThatWorkHasItsOwnCpu) {
  take({shown(inner_call_, State::wait_messages, true), shown(loop_, State::work), shown(loop_, State::work),
        shown(loop_, State::wait_barrier)});
  EXPECT_DOUBLE_EQ(lost(inner_call_, Loss::transfer), 1);
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::imbalance), 1);
  EXPECT_DOUBLE_EQ(useful(loop_), 2);
}

TEST_F(BlameTest, MembersThatWaitForOneThatAwaitsMessages) {
  take({shown(inner_call_, State::wait_messages, true), shown(loop_, State::wait_barrier),
        shown(loop_, State::wait_barrier), shown(loop_, State::wait_barrier, false, true)});
  EXPECT_DOUBLE_EQ(lost(inner_call_, Loss::transfer), 4);
}

TEST_F(BlameTest, PausedCallsAwaitMessagesAtTheirPlace) {
  take({shown(region_, State::wait_barrier, true), shown(inner_call_, State::wait_messages, false, true),
        shown(inner_call_, State::wait_messages, false, true)});
  // Two CPUs for them, and the others have nothing else to wait for.
  EXPECT_DOUBLE_EQ(lost(inner_call_, Loss::transfer), 4);
}

TEST_F(BlameTest, PausedCallsAreNoLossWhereAllCpusWork) {
  take({shown(loop_, State::work, true), shown(loop_, State::work), shown(loop_, State::work),
        shown(loop_, State::work), shown(inner_call_, State::wait_messages, false, true)});
  EXPECT_DOUBLE_EQ(useful(loop_), 4);
  EXPECT_DOUBLE_EQ(lost(inner_call_, Loss::transfer), 0);
}

TEST_F(BlameTest, AThreadBesideARegionThatWorksWaitsForItself) {
  take({shown(call_, State::wait_messages, true), shown(loop_, State::work, true), shown(loop_, State::work),
        shown(loop_, State::work)});
  EXPECT_DOUBLE_EQ(lost(call_, Loss::transfer), 1);
  EXPECT_DOUBLE_EQ(useful(loop_), 3);
}

TEST_F(BlameTest, MoreThreadsThanCpusShareThem) {
  std::vector<Shown> seen;
  for (int i = 0; i < 2 * kCpus; ++i) seen.push_back(shown(serial_, State::work, true));
  EXPECT_DOUBLE_EQ(take(seen), kTick / 2);
  EXPECT_DOUBLE_EQ(useful(serial_), kCpus);
}

TEST_F(BlameTest, WhatIsNotToldTakesNoMoreThanItsTeam) {
  (*nodes_)[region_].members = 2;
  take({shown(region_, State::unwatched, true), shown(lock_, State::wait_lock, false, true)});
  EXPECT_DOUBLE_EQ(ledger_.at(region_).unwatched / kTick, 2);
  EXPECT_DOUBLE_EQ(lost(lock_, Loss::synchronisation), 1);
}

TEST_F(BlameTest, WhatIsNotToldIsSpreadLikeWhatIs) {
  take({shown(region_, State::unwatched, true)});
  EXPECT_DOUBLE_EQ(ledger_.at(region_).unwatched / kTick, 4);
  // Told: one snapshot in which half of the CPUs work.
  take({shown(loop_, State::work, true), shown(loop_, State::work), shown(loop_, State::wait_barrier),
        shown(loop_, State::wait_barrier)});
  ledger_.spread_unwatched(*nodes_, {});
  EXPECT_DOUBLE_EQ(useful(loop_), 4);
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::imbalance), 4);
}

TEST_F(BlameTest, APrimaryThatHasLeftItsCarrierIsInItsRegionStill) {
  (*nodes_)[region_].members = 3;
  take({shown(region_, State::unwatched, true, true)});
  EXPECT_DOUBLE_EQ(ledger_.at(region_).unwatched / kTick, 3);
}

TEST_F(BlameTest, OverheadIsNoMoreThanChunksMayTake) {
  take({shown(loop_, State::unwatched_chunks, true)});
  std::vector<Unwatched> known(nodes_->count());
  known[loop_] = {.work_ns = 0.1 * kTick, .most_overhead_ns = 0.3 * kTick};
  ledger_.spread_unwatched(*nodes_, known);
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::overhead), 0.3);
  EXPECT_DOUBLE_EQ(useful(loop_), 0.7);
}

TEST_F(BlameTest, OfWhatIsNotToldAsMuchIsWorkAsWasMeasured) {
  take({shown(region_, State::unwatched, true)});
  // Told: half is work and half is overhead, since it is told.
  take({shown(loop_, State::work, true), shown(loop_, State::work), shown(loop_, State::runtime),
        shown(loop_, State::runtime)});
  std::vector<Unwatched> known(nodes_->count());
  known[region_].work_ns = 3 * kTick;
  ledger_.spread_unwatched(*nodes_, known);
  EXPECT_DOUBLE_EQ(useful(loop_), 2 + 3);
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::overhead), 2 + 1);
}

TEST_F(BlameTest, WhatNoSnapshotHasMetIsTheRegionsOwn) {
  take({shown(region_, State::unwatched, true)});
  std::vector<Unwatched> known(nodes_->count());
  known[region_].work_ns = kTick;
  ledger_.spread_unwatched(*nodes_, known);
  EXPECT_DOUBLE_EQ(useful(region_), 1);
  EXPECT_DOUBLE_EQ(lost(region_, Loss::overhead), 3);
  take({shown(region_, State::unwatched, true)});
  known[region_].work_ns = 9 * kTick;  // more than there was
  ledger_.spread_unwatched(*nodes_, known);
  EXPECT_DOUBLE_EQ(useful(region_), 1 + 4);
}

TEST_F(BlameTest, OfChunksThatAreNotToldTheirLengthsSayWhatWasWork) {
  const std::vector<Shown> all = {shown(loop_, State::unwatched_chunks, true), shown(loop_, State::unwatched_chunks),
                                  shown(loop_, State::unwatched_chunks), shown(loop_, State::wait_barrier)};
  take(all);
  // Who waits does so for those that are in the loop.
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::imbalance), 1);
  EXPECT_DOUBLE_EQ(ledger_.at(loop_).unwatched / kTick, 3);
  std::vector<Unwatched> known(nodes_->count());
  known[loop_].work_ns = 1.5 * kTick;
  ledger_.spread_unwatched(*nodes_, known);
  EXPECT_DOUBLE_EQ(useful(loop_), 1.5);
  EXPECT_DOUBLE_EQ(lost(loop_, Loss::overhead), 1.5);
  take(all);
  known[loop_].work_ns = 9 * kTick;  // than it was there
  ledger_.spread_unwatched(*nodes_, known);
  EXPECT_DOUBLE_EQ(useful(loop_), 1.5 + 3);
}

TEST_F(BlameTest, WallCountsASiteOnceForAllThatAreInIt) {
  take({shown(loop_, State::work, true), shown(loop_, State::work), shown(loop_, State::wait_barrier)});
  EXPECT_DOUBLE_EQ(ledger_.at(loop_).wall, kTick);
  EXPECT_DOUBLE_EQ(ledger_.at(region_).wall, kTick);
  EXPECT_DOUBLE_EQ(ledger_.at(0).wall, kTick);
}

TEST(NodesTest, AConstructWithinItselfIsTheSame) {
  auto nodes = std::make_unique<ConstructTree>();
  const ConstructId outer = nodes->child(0, Kind::region, at(1));
  const ConstructId loop = nodes->child(outer, Kind::loop, at(2));
  EXPECT_EQ(nodes->child(loop, Kind::region, at(1)), outer);
  EXPECT_EQ(nodes->child(outer, Kind::loop, at(2)), loop);
  EXPECT_NE(nodes->child(outer, Kind::single, at(2)), loop);
  EXPECT_EQ((*nodes)[loop].region, outer);
  EXPECT_EQ((*nodes)[loop].level, 1);
}

TEST(NodesTest, TooManyAreCounted) {
  auto nodes = std::make_unique<ConstructTree>();
  for (uintptr_t i = 1; i < ConstructTree::kMost; ++i) ASSERT_EQ(nodes->child(0, Kind::loop, at(i)), i);
  EXPECT_EQ(nodes->child(0, Kind::loop, at(ConstructTree::kMost)), 0u);
  EXPECT_EQ(nodes->lost(), 1u);
  EXPECT_EQ(nodes->child(0, Kind::loop, at(7)), 7u);
}

}  // namespace
}  // namespace weft::observe
