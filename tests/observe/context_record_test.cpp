// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/context_record.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "observe/account/timeline.h"
#include "observe/record/profile/counts.h"
#include "observe/record/profile/scale.h"

namespace weft::observe {
namespace {

const void* at(uintptr_t address) { return reinterpret_cast<const void*>(address); }

class ContextRecordTest : public ::testing::Test {
 protected:
  ContextRecordTest() {
    next_recording();  // one runs
    begin_record(true);
  }
  ~ContextRecordTest() override {
    end_record();
    next_recording();
  }
};

TEST_F(ContextRecordTest, AWordHoldsAllThatIsShown) {
  Shown shown;
  shown.node = 0xfffffff0;
  shown.state = State::unwatched;
  shown.primary = shown.root = shown.left = true;
  shown.carrier = 4095;
  const Shown read = Shown::of(shown.packed());
  EXPECT_EQ(read.node, shown.node);
  EXPECT_EQ(read.state, shown.state);
  EXPECT_TRUE(read.primary && read.root && read.left);
  EXPECT_EQ(read.carrier, 4095);
  EXPECT_EQ(Shown::of(Shown().packed()).carrier, -1);
}

TEST_F(ContextRecordTest, CallsOfTheRuntimeAreRuntimeUntilTheyReturn) {
  EXPECT_EQ(t_record->shown().state, State::work);
  t_record->enter_runtime();
  EXPECT_EQ(t_record->shown().state, State::runtime);
  Entry* region = t_record->push(Kind::region, at(0x100));  // as when a call opens a region
  EXPECT_EQ(t_record->shown().state, State::runtime);
  t_record->push(region->node, State::work);
  t_record->enter_runtime();
  t_record->push(region->node, State::wait_barrier);
  EXPECT_EQ(t_record->shown().state, State::wait_barrier);
  t_record->pop();
  EXPECT_EQ(t_record->shown().state, State::runtime);
  t_record->leave_runtime();
  EXPECT_EQ(t_record->shown().state, State::work);
  t_record->pop();
  t_record->pop();
  EXPECT_EQ(t_record->shown().state, State::runtime);
  t_record->leave_runtime();
  EXPECT_EQ(t_record->shown().state, State::work);
}

TEST_F(ContextRecordTest, ACallThatWaitsIsSeenAtItsPlaceUntilItReturns) {
  const ConstructId before = t_record->node();
  t_record->begin_wait("MPI_Recv", at(0x180));
  const Shown shown = t_record->shown();
  EXPECT_EQ(shown.state, State::wait_messages);
  EXPECT_EQ(g_nodes[shown.node].kind, Kind::call);
  EXPECT_EQ(g_nodes[shown.node].caller, at(0x180));
  EXPECT_STREQ(g_nodes[shown.node].callee, "MPI_Recv");
  t_record->leave_carrier();
  EXPECT_EQ(t_record->shown().state, State::wait_messages);
  EXPECT_TRUE(t_record->shown().left);
  t_record->continue_on(3);
  t_record->end_wait();
  EXPECT_EQ(t_record->shown().state, State::work);
  EXPECT_EQ(t_record->node(), before);
}

TEST_F(ContextRecordTest, ACallWithinACallTakesItsPlace) {
  const ConstructId before = t_record->node();
  t_record->begin_wait("MPI_Reduce", at(0x190));
  t_record->begin_wait("MPI_Recv", at(0x1a0));  // by the program's operation
  EXPECT_EQ(g_nodes[t_record->node()].caller, at(0x1a0));
  t_record->end_wait();
  t_record->end_wait();
  EXPECT_EQ(t_record->node(), before);
  EXPECT_EQ(t_record->shown().state, State::work);
}

TEST_F(ContextRecordTest, ACallThatIsLeftByAJumpGoesWithTheFrameAroundIt) {
  const ConstructId before = t_record->node();
  Entry* task = t_record->count(Kind::task, at(0x1b0));
  t_record->push(task->node, State::work);
  t_record->begin_wait("MPI_Wait", at(0x1c0));
  t_record->pop();  // the task has ended
  EXPECT_EQ(t_record->node(), before);
  EXPECT_EQ(t_record->shown().state, State::work);
  t_record->end_wait();
  EXPECT_EQ(t_record->node(), before);
}

TEST_F(ContextRecordTest, CallsInRegionsThatAreNotToldAreNotEither) {
  Entry* region = t_record->entry_of(t_record->node(), Kind::region, at(0x1d0));
  t_record->push(region->node, State::unwatched);
  t_record->begin_wait("MPI_Recv", at(0x1e0));
  EXPECT_EQ(t_record->shown().state, State::unwatched);
  t_record->end_wait();
  EXPECT_EQ(t_record->shown().state, State::unwatched);
  t_record->pop();
  EXPECT_EQ(t_record->shown().state, State::work);
}

TEST_F(ContextRecordTest, WaitsBelowTooManyFramesChangeNothing) {
  const ConstructId before = t_record->node();
  Entry* entry = t_record->count(Kind::loop, at(0x1f0));
  constexpr int kMany = 150;
  for (int i = 0; i < kMany; ++i) t_record->push(entry->node, State::work);
  t_record->begin_wait("MPI_Recv", at(0x1f8));
  t_record->end_wait();
  for (int i = 0; i < kMany; ++i) t_record->pop();
  EXPECT_EQ(t_record->node(), before);
}

TEST_F(ContextRecordTest, FramesThatFindNoRoomAreLeftAsOften) {
  Entry* entry = t_record->count(Kind::loop, at(0x200));
  const ConstructId before = t_record->node();
  for (int i = 0; i < 500; ++i) t_record->push(entry->node, State::work);
  for (int i = 0; i < 500; ++i) t_record->pop();
  EXPECT_EQ(t_record->node(), before);
  t_record->pop();  // the outermost stays
  EXPECT_EQ(t_record->node(), before);
}

TEST_F(ContextRecordTest, LengthsAreTimedAllAtFirstAndSomeLater) {
  Entry* entry = t_record->count(Kind::task, at(0x300));
  constexpr int kPieces = 256 + 16000;
  for (int i = 0; i < kPieces; ++i) {
    t_record->push(entry->node, State::work);
    t_record->begin_piece(entry);
    t_record->pop();
  }
  EXPECT_NEAR(static_cast<double>(entry->timed.get()), 256 + 1000, 150);
}

TEST_F(ContextRecordTest, OfShortRegionsSomeAreTold) {
  Entry* entry = t_record->count(Kind::region, at(0x400));
  int told = 0;
  for (int i = 0; i < 64; ++i) {
    told += entry->is_watched() ? 1 : 0;
    entry->add_length(10);
  }
  EXPECT_EQ(told, 64);
  for (int i = 0; i < 256000; ++i) {
    told += entry->is_watched() ? 1 : 0;
    entry->add_length(10);
  }
  // More of them until it is known well how long they are.
  EXPECT_NEAR(told, 64 + 78 + 484, 120);
}

TEST_F(ContextRecordTest, OfLongRegionsAllAreTold) {
  Entry* entry = t_record->count(Kind::region, at(0x500));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(entry->is_watched());
    entry->add_length(int64_t{1} << 40);
  }
}

TEST_F(ContextRecordTest, OfShortChunksSomeAreToldAndEachSecondOfTheseIsTimed) {
  Entry* entry = t_record->push(Kind::loop, at(0x600));
  constexpr int kChunks = 1'000'000;
  uint32_t unwatched = 0;
  int told = 0;
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    if (unwatched > 0) {
      EXPECT_EQ(t_record->shown().state, State::unwatched_chunks);
      --unwatched;
      continue;
    }
    t_record->enter_runtime();
    EXPECT_EQ(t_record->shown().state, State::runtime);
    ++told;
    entry->pieces.add(1);
    t_record->begin_chunk(entry);
    unwatched = t_record->leave_out(entry);
    t_record->leave_runtime();
    EXPECT_EQ(t_record->shown().state, unwatched > 0 ? State::unwatched_chunks : State::work);
  }
  entry->pieces.take_back(unwatched);
  EXPECT_EQ(entry->pieces.get(), static_cast<uint64_t>(kChunks));
  // 64 until it is known that they are short; of 257 later two.
  EXPECT_NEAR(told, 64 + 2 * kChunks / 257, 1000);
  EXPECT_NEAR(static_cast<double>(entry->timed.get()), 64 + kChunks / 257.0, 500);
  t_record->pop();
  EXPECT_EQ(t_record->shown().state, State::work);
}

TEST_F(ContextRecordTest, OfLongChunksAllAreTold) {
  Entry* entry = t_record->push(Kind::loop, at(0x700));
  entry->note_recording();
  for (int i = 0; i < 100; ++i) entry->add_length(int64_t{1} << 40);
  for (int i = 0; i < 1000; ++i) {
    t_record->begin_chunk(entry);
    ASSERT_EQ(t_record->leave_out(entry), 0u);
  }
  t_record->pop();
}

TEST_F(ContextRecordTest, LengthsOfRegionsThatAreToldForOthersDoNotCount) {
  Entry* entry = t_record->count(Kind::region, at(0x800));
  const auto run = [&](State state) {
    t_record->push(entry->node, state);
    t_record->begin_piece(entry);
    t_record->pop();
  };
  run(State::runtime);
  EXPECT_EQ(entry->timed.get(), 1u);
  entry->unwatched.add(1);
  run(State::unwatched);
  EXPECT_EQ(entry->timed.get(), 2u);
  run(State::runtime);
  EXPECT_EQ(entry->timed.get(), 2u);
}

TEST_F(ContextRecordTest, WorkIsMeasuredAsLongAsItIsWork) {
  Entry* entry = t_record->count(Kind::region, at(0x880));
  const auto pass = [] {
    const int64_t since = platform::ticks();
    while (platform::ticks() - since < 1'000'000) {
    }
  };
  // What is seen from outside is the most that it can be: the thread may lose its CPU at any time.
  uint64_t most = 0;
  int64_t since = 0;
  const auto work_begins = [&] { since = platform::ticks(); };
  const auto work_has_ended = [&] { most += static_cast<uint64_t>(platform::ticks() - since); };
  t_record->push(entry->node, State::work);
  work_begins();
  ASSERT_TRUE(t_record->begin_work(entry));
  EXPECT_FALSE(t_record->begin_work(entry));
  pass();
  t_record->enter_runtime();
  work_has_ended();
  pass();
  work_begins();
  t_record->leave_runtime();
  pass();
  t_record->push(entry->node, State::wait_barrier);
  work_has_ended();
  pass();
  work_begins();
  t_record->pop();
  t_record->leave_carrier();
  work_has_ended();
  pass();
  work_begins();
  t_record->continue_on(1);
  pass();
  t_record->end_work();
  work_has_ended();
  pass();
  t_record->pop();
  EXPECT_GE(entry->sampled_work.get(), 3'000'000u);
  EXPECT_LE(entry->sampled_work.get(), most);
}

// As the runtime opens a region of which nothing is told: it asks for some.
class SkipTest : public ContextRecordTest {
 protected:
  SkipTest() {
    begin_record(true);
    entry_ = t_record->entry_of(t_record->node(), Kind::region, at(0xa00));
    entry_->note_recording();
    make_short();
  }

  void make_short() {
    for (int i = 0; i < 64; ++i) entry_->add_length(10);
    entry_->until_watched = 1'000'000;
  }

  void begin() {
    weft_region_skip_t* skip = t_record->skip();
    if (skip->left > 0 && skip->codeptr_ra == entry_->caller) {
      const std::atomic_ref left(skip->left);
      left.store(left.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
      skip->inside = 1;
      toggle();
      return;
    }
    ++asked_;
    bool told = entry_->is_watched();
    if (told) {  // a region in which the thread lost its CPU was a long one
      make_short();
      told = entry_->is_watched();
    }
    ASSERT_FALSE(told);
    entry_->count.add(1);
    entry_->unwatched.add(1);
    t_record->push(entry_->node, State::unwatched);
    t_record->begin_piece(entry_);
  }
  void end() {
    weft_region_skip_t* skip = t_record->skip();
    if (skip->inside == 0) return t_record->end_unwatched_region();
    skip->inside = 0;
    toggle();
  }
  static void toggle() {
    const std::atomic_ref shown(*t_record->skip()->shown);
    shown.store(shown.load(std::memory_order_relaxed) ^ t_record->skip()->toggles, std::memory_order_release);
  }
  void begin_unasked() {
    do {
      begin();
      if (t_record->skip()->inside != 0) return;
      end();
    } while (true);
  }
  void expect_inside() {
    EXPECT_EQ(t_record->shown().state, State::unwatched);
    EXPECT_EQ(t_record->shown().node, entry_->node);
  }
  uint64_t counted() const { return sums(g_nodes.count())[entry_->node].unwatched; }

  Entry* entry_ = nullptr;
  int asked_ = 0;
};

TEST_F(SkipTest, RegionsThatNeedNotBeAskedForAreSeenAndCounted) {
  const uint64_t before = counted();
  const uint64_t outside = t_record->shown().packed();
  for (uint64_t i = 1; i <= 10000; ++i) {
    begin();
    expect_inside();
    end();
    EXPECT_EQ(t_record->shown().packed(), outside);
    ASSERT_EQ(counted() - before, i);
  }
  EXPECT_LT(asked_, 10000 / 5);
  EXPECT_EQ(sums(g_nodes.count())[entry_->node].count, sums(g_nodes.count())[entry_->node].unwatched);
}

TEST_F(SkipTest, ALongOneIsTheLastThatIsNotTold) {
  begin_unasked();
  end();
  while (t_record->skip()->left > 0) {
    begin();
    end();
  }
  begin();
  const int64_t since = platform::ticks();
  while (static_cast<double>(platform::ticks() - since) * ns_per_tick() < 50'000) {
  }
  end();
  EXPECT_EQ(t_record->skip()->left, 0u);
  EXPECT_EQ(entry_->until_watched, 0u);
  EXPECT_TRUE(entry_->is_watched());
  EXPECT_TRUE(entry_->is_watched());  // and the next, too, until one is short again
}

TEST_F(SkipTest, WhoeverIsToldOfSomethingIsAskedAgain) {
  const uint64_t before = counted();
  begin_unasked();
  end();
  t_record->enter_runtime();
  t_record->leave_runtime();
  EXPECT_EQ(t_record->skip()->left, 0u);
  EXPECT_EQ(1'000'000 - entry_->until_watched, counted() - before);
}

TEST_F(SkipTest, WhatIsToldInsideOfOneIsInIt) {
  const uint64_t outside = t_record->shown().packed();
  begin_unasked();
  t_record->push(Kind::call, at(0xb00));
  EXPECT_EQ(g_nodes[t_record->node()].parent, entry_->node);
  t_record->pop();
  expect_inside();
  end();  // now by end_untold_region()
  EXPECT_EQ(t_record->shown().packed(), outside);
}

TEST_F(SkipTest, WhoLeavesItsCarrierInsideOfOneIsInItStill) {
  begin_unasked();
  t_record->leave_carrier();
  expect_inside();
  EXPECT_TRUE(t_record->shown().left);
  t_record->continue_on(3);
  expect_inside();
  end();
  EXPECT_EQ(t_record->shown().state, State::work);
  EXPECT_EQ(t_record->shown().carrier, 3);
  EXPECT_FALSE(t_record->shown().left);
}

TEST_F(SkipTest, OthersSeeNothingButTheRegionAndWhatIsAroundIt) {
  const ContextRecord* record = t_record;
  const ConstructId outside = record->shown().node;
  const ConstructId inside = entry_->node;
  std::atomic<bool> ends{false};
  std::thread reader([&] {
    while (!ends.load(std::memory_order_relaxed)) {
      const Shown shown = record->shown();
      EXPECT_EQ(shown.node, shown.state == State::unwatched ? inside : outside);
      const Sum sum = sums(inside + 1)[inside];
      EXPECT_LT(sum.count, uint64_t{1} << 32);
      EXPECT_LT(sum.unwatched, uint64_t{1} << 32);
    }
  });
  for (int i = 0; i < 100'000; ++i) {
    begin();
    end();
    if (i % 100 == 0) t_record->enter_runtime();
    if (i % 100 == 0) t_record->leave_runtime();
  }
  ends.store(true, std::memory_order_relaxed);
  reader.join();
}

// A few lengths are those of chunks in which the CPU was taken away.
TEST_F(ContextRecordTest, TheMeanOfShortChunksIsNotThatOfAFewLongOnes) {
  Entry* entry = t_record->push(Kind::loop, at(0x900));
  const auto ticks = [](double ns) { return static_cast<int64_t>(ns / ns_per_tick()); };
  entry->unwatched.add(1'000'000);
  for (int i = 0; i < 10000; ++i) entry->add_length(ticks(100));
  for (int i = 0; i < 4; ++i) entry->add_length(ticks(5e6));
  const std::vector<Sum> all = sums(g_nodes.count());
  EXPECT_NEAR(unwatched_of(all, g_nodes)[entry->node].work_ns, 1e6 * 100, 2e7);
  // What is as long and not so rare is the program's own.
  for (int i = 0; i < 40; ++i) entry->add_length(ticks(1e6));
  EXPECT_NEAR(unwatched_of(sums(g_nodes.count()), g_nodes)[entry->node].work_ns, 1e6 * (1e6 + 20e6 + 40e6) / 10044,
              1e8);
  t_record->pop();
}

TEST_F(ContextRecordTest, ManyEntriesAreFoundAgain) {
  for (uintptr_t i = 0; i < 1000; ++i) t_record->count(Kind::barrier, at(0x1000 + i));
  for (uintptr_t i = 0; i < 1000; ++i) EXPECT_EQ(t_record->count(Kind::barrier, at(0x1000 + i))->count.get(), 2u);
}

// The sampler reads while contexts come, count and go.
TEST(ContextRecords, AreReadByOthersAtAnyTime) {
  std::atomic<bool> ends{false};
  std::thread sampler([&] {
    Timeline timeline(4);
    std::vector<Shown> seen;
    int64_t time = 0;
    while (!ends.load(std::memory_order_relaxed)) {
      seen.clear();
      uint64_t counted = 0;
      for (const ContextRecord* record = g_records.load(std::memory_order_acquire); record != nullptr;
           record = record->next) {
        const Shown shown = record->shown();
        ASSERT_LT(shown.node, g_nodes.count());
        if (shown.state != State::out) seen.push_back(shown);
        record->visit([&](const Entry& entry) { counted += entry.count.get(); });
      }
      timeline.take(seen, ++time);
    }
  });
  std::vector<std::thread> contexts;
  for (int thread = 0; thread < 4; ++thread) {
    contexts.emplace_back([thread] {
      for (int round = 0; round < 50; ++round) {
        begin_record(false);
        for (uintptr_t i = 0; i < 200; ++i) {
          t_record->push(Kind::loop, at(0x10000 + 1000 * static_cast<uintptr_t>(thread) + i));
          t_record->count(Kind::task, at(0x20000 + i % 7));
          t_record->pop();
        }
        end_record();
      }
    });
  }
  for (std::thread& each : contexts) each.join();
  ends.store(true, std::memory_order_relaxed);
  sampler.join();
  int records = 0;
  for (const ContextRecord* record = g_records.load(std::memory_order_acquire); record != nullptr;
       record = record->next)
    ++records;
  EXPECT_LE(records, 5);  // they serve again
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
}  // namespace weft::observe
