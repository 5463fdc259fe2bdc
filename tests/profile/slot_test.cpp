// SPDX-License-Identifier: Apache-2.0
#include "profile/slot.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "profile/timeline.h"

namespace weft::profile {
namespace {

const void* at(uintptr_t address) { return reinterpret_cast<const void*>(address); }

class SlotTest : public ::testing::Test {
 protected:
  SlotTest() { begin_slot(true); }
  ~SlotTest() override { end_slot(); }
};

TEST_F(SlotTest, AWordHoldsAllThatIsShown) {
  Shown shown;
  shown.node = 0xfffffff0;
  shown.state = State::untold;
  shown.primary = shown.root = shown.left = true;
  shown.carrier = 4095;
  const Shown read = Shown::of(shown.packed());
  EXPECT_EQ(read.node, shown.node);
  EXPECT_EQ(read.state, shown.state);
  EXPECT_TRUE(read.primary && read.root && read.left);
  EXPECT_EQ(read.carrier, 4095);
  EXPECT_EQ(Shown::of(Shown().packed()).carrier, -1);
}

TEST_F(SlotTest, CallsOfTheRuntimeAreRuntimeUntilTheyReturn) {
  EXPECT_EQ(t_slot->shown().state, State::work);
  t_slot->enter_runtime();
  EXPECT_EQ(t_slot->shown().state, State::runtime);
  Entry* region = t_slot->push(Kind::region, at(0x100));  // as when a call opens a region
  EXPECT_EQ(t_slot->shown().state, State::runtime);
  t_slot->push(region->node, State::work);
  t_slot->enter_runtime();
  t_slot->push(region->node, State::wait_barrier);
  EXPECT_EQ(t_slot->shown().state, State::wait_barrier);
  t_slot->pop();
  EXPECT_EQ(t_slot->shown().state, State::runtime);
  t_slot->leave_runtime();
  EXPECT_EQ(t_slot->shown().state, State::work);
  t_slot->pop();
  t_slot->pop();
  EXPECT_EQ(t_slot->shown().state, State::runtime);
  t_slot->leave_runtime();
  EXPECT_EQ(t_slot->shown().state, State::work);
}

TEST_F(SlotTest, ACallThatWaitsIsSeenAtItsPlaceUntilItReturns) {
  const NodeId before = t_slot->node();
  t_slot->begin_wait("MPI_Recv", at(0x180));
  const Shown shown = t_slot->shown();
  EXPECT_EQ(shown.state, State::wait_messages);
  EXPECT_EQ(g_nodes[shown.node].kind, Kind::call);
  EXPECT_EQ(g_nodes[shown.node].caller, at(0x180));
  EXPECT_STREQ(g_nodes[shown.node].callee, "MPI_Recv");
  t_slot->leave_carrier();
  EXPECT_EQ(t_slot->shown().state, State::wait_messages);
  EXPECT_TRUE(t_slot->shown().left);
  t_slot->continue_on(3);
  t_slot->end_wait();
  EXPECT_EQ(t_slot->shown().state, State::work);
  EXPECT_EQ(t_slot->node(), before);
}

TEST_F(SlotTest, ACallWithinACallTakesItsPlace) {
  const NodeId before = t_slot->node();
  t_slot->begin_wait("MPI_Reduce", at(0x190));
  t_slot->begin_wait("MPI_Recv", at(0x1a0));  // by the program's operation
  EXPECT_EQ(g_nodes[t_slot->node()].caller, at(0x1a0));
  t_slot->end_wait();
  t_slot->end_wait();
  EXPECT_EQ(t_slot->node(), before);
  EXPECT_EQ(t_slot->shown().state, State::work);
}

TEST_F(SlotTest, ACallThatIsLeftByAJumpGoesWithTheFrameAroundIt) {
  const NodeId before = t_slot->node();
  Entry* task = t_slot->count(Kind::task, at(0x1b0));
  t_slot->push(task->node, State::work);
  t_slot->begin_wait("MPI_Wait", at(0x1c0));
  t_slot->pop();  // the task has ended
  EXPECT_EQ(t_slot->node(), before);
  EXPECT_EQ(t_slot->shown().state, State::work);
  t_slot->end_wait();
  EXPECT_EQ(t_slot->node(), before);
}

TEST_F(SlotTest, CallsInRegionsThatAreNotToldAreNotEither) {
  Entry* region = t_slot->entry_of(t_slot->node(), Kind::region, at(0x1d0));
  t_slot->push(region->node, State::untold);
  t_slot->begin_wait("MPI_Recv", at(0x1e0));
  EXPECT_EQ(t_slot->shown().state, State::untold);
  t_slot->end_wait();
  EXPECT_EQ(t_slot->shown().state, State::untold);
  t_slot->pop();
  EXPECT_EQ(t_slot->shown().state, State::work);
}

TEST_F(SlotTest, WaitsBelowTooManyFramesChangeNothing) {
  const NodeId before = t_slot->node();
  Entry* entry = t_slot->count(Kind::loop, at(0x1f0));
  constexpr int kMany = 150;
  for (int i = 0; i < kMany; ++i) t_slot->push(entry->node, State::work);
  t_slot->begin_wait("MPI_Recv", at(0x1f8));
  t_slot->end_wait();
  for (int i = 0; i < kMany; ++i) t_slot->pop();
  EXPECT_EQ(t_slot->node(), before);
}

TEST_F(SlotTest, FramesThatFindNoRoomAreLeftAsOften) {
  Entry* entry = t_slot->count(Kind::loop, at(0x200));
  const NodeId before = t_slot->node();
  for (int i = 0; i < 500; ++i) t_slot->push(entry->node, State::work);
  for (int i = 0; i < 500; ++i) t_slot->pop();
  EXPECT_EQ(t_slot->node(), before);
  t_slot->pop();  // the outermost stays
  EXPECT_EQ(t_slot->node(), before);
}

TEST_F(SlotTest, LengthsAreTimedAllAtFirstAndSomeLater) {
  Entry* entry = t_slot->count(Kind::task, at(0x300));
  constexpr int kPieces = 256 + 16000;
  for (int i = 0; i < kPieces; ++i) {
    t_slot->push(entry->node, State::work);
    t_slot->begin_piece(entry);
    t_slot->pop();
  }
  EXPECT_NEAR(static_cast<double>(entry->timed.get()), 256 + 1000, 150);
}

TEST_F(SlotTest, OfShortRegionsSomeAreTold) {
  Entry* entry = t_slot->count(Kind::region, at(0x400));
  int told = 0;
  for (int i = 0; i < 64; ++i) {
    told += entry->is_told() ? 1 : 0;
    entry->add_length(10);
  }
  EXPECT_EQ(told, 64);
  for (int i = 0; i < 128000; ++i) told += entry->is_told() ? 1 : 0;
  EXPECT_NEAR(told, 64 + 1000, 150);
}

TEST_F(SlotTest, OfLongRegionsAllAreTold) {
  Entry* entry = t_slot->count(Kind::region, at(0x500));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(entry->is_told());
    entry->add_length(int64_t{1} << 40);
  }
}

TEST_F(SlotTest, ManyEntriesAreFoundAgain) {
  for (uintptr_t i = 0; i < 1000; ++i) t_slot->count(Kind::barrier, at(0x1000 + i));
  for (uintptr_t i = 0; i < 1000; ++i) EXPECT_EQ(t_slot->count(Kind::barrier, at(0x1000 + i))->count.get(), 2u);
}

// The sampler reads while contexts come, count and go.
TEST(SlotsTest, AreReadByOthersAtAnyTime) {
  std::atomic<bool> ends{false};
  std::thread sampler([&] {
    Timeline timeline(4);
    std::vector<Shown> seen;
    int64_t time = 0;
    while (!ends.load(std::memory_order_relaxed)) {
      seen.clear();
      uint64_t counted = 0;
      for (const Slot* slot = g_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
        const Shown shown = slot->shown();
        ASSERT_LT(shown.node, g_nodes.count());
        if (shown.state != State::out) seen.push_back(shown);
        slot->visit([&](const Entry& entry) { counted += entry.count.get(); });
      }
      timeline.take(seen, ++time);
    }
  });
  std::vector<std::thread> contexts;
  for (int thread = 0; thread < 4; ++thread) {
    contexts.emplace_back([thread] {
      for (int round = 0; round < 50; ++round) {
        begin_slot(false);
        for (uintptr_t i = 0; i < 200; ++i) {
          t_slot->push(Kind::loop, at(0x10000 + 1000 * static_cast<uintptr_t>(thread) + i));
          t_slot->count(Kind::task, at(0x20000 + i % 7));
          t_slot->pop();
        }
        end_slot();
      }
    });
  }
  for (std::thread& each : contexts) each.join();
  ends.store(true, std::memory_order_relaxed);
  sampler.join();
  int slots = 0;
  for (const Slot* slot = g_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) ++slots;
  EXPECT_LE(slots, 5);  // they serve again
}

TEST(TimelineTest, KeepsAllOfALongRunInBoundedMemory) {
  Timeline timeline(2);
  Shown working;
  working.node = 3;
  working.state = State::work;
  working.carrier = 1;
  constexpr int64_t kTimes = 100'000;
  for (int64_t time = 1; time <= kTimes; ++time) timeline.take({working}, time);
  const auto& rows = timeline.rows();
  EXPECT_GE(rows.size(), 1000u);
  EXPECT_LE(rows.size(), 4000u);
  EXPECT_GT(rows.back().time, kTimes * 9 / 10);
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].cpus.size(), 2u);
    EXPECT_EQ(Timeline::doing_of(rows[i].cpus[0]), Doing::idle);
    EXPECT_EQ(Timeline::doing_of(rows[i].cpus[1]), Doing::work);
    EXPECT_EQ(Timeline::node_of(rows[i].cpus[1]), 3u);
  }
  // Even steps: nothing is missing between.
  const int64_t step = rows[1].time - rows[0].time;
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_EQ(rows[i].time - rows[i - 1].time, step);
}

TEST(TimelineTest, ThreadsWithoutACarrierTakeAFreeTrack) {
  Timeline timeline(2);
  Shown thread;
  thread.node = 1;
  thread.state = State::work;
  Shown member = thread;
  member.node = 2;
  member.carrier = 0;
  timeline.take({thread, member}, 1);
  EXPECT_EQ(Timeline::node_of(timeline.rows()[0].cpus[0]), 2u);
  EXPECT_EQ(Timeline::node_of(timeline.rows()[0].cpus[1]), 1u);
}

}  // namespace
}  // namespace weft::profile
