// SPDX-License-Identifier: Apache-2.0
// A carrier whose contexts yield to each other serves one that is busy: in a pool of the test's own whose
// carriers nobody runs.
#include "core/sched/yield_round.h"

#include <array>
#include <utility>

#include <gtest/gtest.h>

#include "../keep.h"
#include "core/sched/pool.h"

namespace {

using namespace weft::core;

class YieldRoundTest : public testing::Test {
 protected:
  void SetUp() override {
    if (g_pool.load() != nullptr) GTEST_SKIP() << "another test of this process has started a pool";
    g_pool = &pool_;
    for (int worker = 0; worker < static_cast<int>(workers_.size()); ++worker) {
      auto* carrier = keep(new Carrier(worker, worker));
      pool_.carriers.put(worker, carrier);
      pool_.workers.put(worker, carrier);
      workers_[static_cast<size_t>(worker)] = carrier;
    }
    pool_.worker_count = static_cast<int>(workers_.size());
    pool_.carrier_count = static_cast<int>(workers_.size());
  }
  void TearDown() override {
    if (g_pool.load() == &pool_) g_pool = nullptr;
  }

  // Whom the first carrier is to serve after at most so many yields.
  Carrier* yield(int times) {
    for (int i = 0; i < times; ++i) {
      if (ends_round(workers_[0])) return std::exchange(workers_[0]->yield_round.serves_first, nullptr);
    }
    return nullptr;
  }

  // More than what two rounds take, also the longest.
  static constexpr int kRounds = 2000;

  Pool& pool_ = *keep(new Pool({.slots = 3}));
  std::array<Carrier*, 3> workers_{};
  Context first_;
  Context second_;
};

TEST_F(YieldRoundTest, ServesAListOfWhichNobodyHasTakenForARound) {
  workers_[2]->ready.push(&first_, &first_, 1);
  EXPECT_EQ(yield(1), nullptr) << "it may have come just now";
  EXPECT_EQ(yield(kRounds), workers_[2]);
  EXPECT_EQ(workers_[2]->ready.pop(), &first_);
  EXPECT_EQ(yield(kRounds), nullptr);
}

TEST_F(YieldRoundTest, ServesACallThatNobodyClaims) {
  ParallelCall call;
  call.claim = 1 | (uint64_t{3} << 32);
  workers_[1]->open[0] = &call;
  workers_[1]->open_top = 1;
  EXPECT_EQ(yield(kRounds), workers_[1]);
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_EQ(yield(1), nullptr) << "its carrier gets on";
    call.claim = 1 | (static_cast<uint64_t>(4 + i) << 32);
  }
  workers_[1]->open_top = 0;
}

TEST_F(YieldRoundTest, ServesALateCallUnderAnIdentityOfItsOwn) {
  workers_[2]->bodiless_ready = &first_;
  EXPECT_EQ(yield(kRounds), nullptr) << "its own carrier is to begin it";
  workers_[2]->late = true;
  EXPECT_EQ(yield(kRounds), workers_[2]);
  workers_[2]->bodiless_ready = nullptr;
}

TEST_F(YieldRoundTest, LeavesAListWhoseCarrierGetsOn) {
  ReadyList& list = workers_[1]->ready;
  Context* next = &first_;
  list.push(next, next, 1);
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_EQ(yield(1), nullptr);
    next = next == &first_ ? &second_ : &first_;
    next->next = nullptr;
    list.push(next, next, 1);
    EXPECT_NE(list.pop(), nullptr);
  }
}

TEST_F(YieldRoundTest, ARoundIsATurnOfEachContextOfItsOwn) {
  std::array<Context, 50> own;
  for (Context& context : own) workers_[0]->ready.push(&context, &context, 1);
  workers_[1]->ready.push(&first_, &first_, 1);
  EXPECT_EQ(yield(static_cast<int>(own.size())), nullptr);
  EXPECT_EQ(yield(kRounds), workers_[1]);
  workers_[1]->ready.pop();
  while (workers_[0]->ready.pop() != nullptr) continue;
}

}  // namespace
