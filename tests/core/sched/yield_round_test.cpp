// SPDX-License-Identifier: Apache-2.0
// A carrier whose contexts yield to each other takes those of a carrier that is busy: in a pool of the test's own whose
// carriers nobody runs.
#include "core/sched/yield_round.h"

#include <array>

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

  // The first that comes in so many yields on the first carrier.
  Context* yield(int times) {
    for (int i = 0; i < times; ++i) {
      if (Context* context = take_from_standing_list(workers_[0])) return context;
    }
    return nullptr;
  }

  // More than what two rounds take.
  static constexpr int kRounds = 100;

  Pool& pool_ = *keep(new Pool({.slots = 3}));
  std::array<Carrier*, 3> workers_{};
  Context first_;
  Context second_;
};

TEST_F(YieldRoundTest, TakesWhatNobodyHasTakenForARound) {
  workers_[2]->ready.push(&first_, &first_, 1);
  EXPECT_EQ(yield(1), nullptr) << "it may have come just now";
  EXPECT_EQ(yield(kRounds), &first_);
  EXPECT_TRUE(workers_[2]->ready.empty());
  EXPECT_EQ(workers_[0]->statistics.steals.get(), 1u);
  EXPECT_EQ(yield(kRounds), nullptr);
}

TEST_F(YieldRoundTest, LeavesAListWhoseCarrierGetsOn) {
  workers_[1]->ready.push(&first_, &first_, 1);
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_EQ(yield(1), nullptr);
    workers_[1]->ready.push(&second_, &second_, 1);
    Context* context = workers_[1]->ready.pop();
    workers_[1]->ready.push(context, context, 1);
    workers_[1]->ready.pop();
  }
}

TEST_F(YieldRoundTest, ARoundIsATurnOfEachContextOfItsOwn) {
  std::array<Context, 50> own;
  for (Context& context : own) workers_[0]->ready.push(&context, &context, 1);
  workers_[1]->ready.push(&first_, &first_, 1);
  EXPECT_EQ(yield(static_cast<int>(own.size())), nullptr);
  EXPECT_EQ(yield(kRounds), &first_);
  while (workers_[0]->ready.pop() != nullptr) continue;
}

}  // namespace
