// SPDX-License-Identifier: Apache-2.0
// A publisher takes back the calls of a parallel call that nobody has claimed, while carriers claim them: a call has
// run once by the end of join(), or never runs.
#include <array>
#include <atomic>

#include <gtest/gtest.h>

#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "platform/cycles.h"

namespace {

using namespace weft::core;

constexpr int kCalls = 8;

struct Record : ParallelCall {
  std::array<std::atomic<int>, kCalls> begun{};
  std::array<std::atomic<int>, kCalls> ended{};

  int sum(const std::array<std::atomic<int>, kCalls>& counts) const {
    int all = 0;
    for (const auto& count : counts) all += count.load(std::memory_order_relaxed);
    return all;
  }
};

void run_call(ParallelCall* parallel_call, int index) {
  auto* record = static_cast<Record*>(parallel_call);
  record->begun[static_cast<size_t>(index)].fetch_add(1, std::memory_order_relaxed);
  for (int i = 0; i < index * 4; ++i) weft::platform::pause();
  record->ended[static_cast<size_t>(index)].fetch_add(1, std::memory_order_relaxed);
}

// Late claimers may look at it for as long as the pool lives.
Record& record_of_test() {
  static auto* record = new Record;
  return *record;
}

// One life of the record: call 0 is the publisher's own, which takes `pauses`.
void live(Record& record, int pauses) {
  Context* self = attach();
  enter_region(self, kCalls);
  for (auto& count : record.begun) count.store(0, std::memory_order_relaxed);
  for (auto& count : record.ended) count.store(0, std::memory_order_relaxed);
  record.call = run_call;
  publish(&record, kCalls);
  for (int i = 0; i < pauses; ++i) weft::platform::pause();
  withdraw(&record);
  EXPECT_FALSE(record.claimable());
  join(&record);
  const int begun = record.sum(record.begun);
  EXPECT_EQ(record.sum(record.ended), begun) << "a call has not ended by the end of join()";
  for (int i = 0; i < kCalls; ++i) EXPECT_LE(record.begun[static_cast<size_t>(i)].load(), i == 0 ? 0 : 1);
  for (int i = 0; i < 20; ++i) weft::platform::pause();
  EXPECT_EQ(record.sum(record.begun), begun) << "a call that was taken back has run";
  EXPECT_TRUE(record.is_over());
  leave_region(self);
}

class WithdrawTest : public testing::Test {
 protected:
  void SetUp() override { start({.slots = 4, .stack_size = 256 * 1024, .spin_ns = 100'000}); }
};

TEST_F(WithdrawTest, WhatNobodyHasClaimedNeverRuns) {
  for (int round = 0; round < 200; ++round) live(record_of_test(), 0);
}

TEST_F(WithdrawTest, WhatIsClaimedMeanwhileRunsOnce) {
  for (int round = 0; round < 3000; ++round) live(record_of_test(), round % 257);
}

TEST_F(WithdrawTest, APublisherThatWasAloneGetsItsCallsLate) {
  Record& record = record_of_test();
  for (int round = 0; round < 3000; ++round) {
    Context* self = attach();
    enter_region(self, kCalls);
    for (auto& count : record.begun) count.store(0, std::memory_order_relaxed);
    for (auto& count : record.ended) count.store(0, std::memory_order_relaxed);
    record.call = run_call;
    publish(&record, 1);
    EXPECT_FALSE(record.claimable());
    for (int i = 0; i < round % 57; ++i) weft::platform::pause();
    publish_again(&record, kCalls);
    join(&record);
    for (int i = 0; i < kCalls; ++i) {
      EXPECT_EQ(record.begun[static_cast<size_t>(i)].load(), i == 0 ? 0 : 1);
      EXPECT_EQ(record.ended[static_cast<size_t>(i)].load(), i == 0 ? 0 : 1);
    }
    EXPECT_TRUE(record.is_over());
    leave_region(self);
    // Lives of both kinds follow each other in one record.
    live(record, round % 57);
  }
}

TEST_F(WithdrawTest, CarriersHaveTakenSomeOfThem) {
  int claimed = 0;
  for (int round = 0; round < 20'000 && claimed == 0; ++round) {
    live(record_of_test(), 2000);
    claimed = record_of_test().sum(record_of_test().begun);
  }
  EXPECT_GT(claimed, 0) << "the other tests have met no claim";
}

}  // namespace
