// SPDX-License-Identifier: Apache-2.0
// Gangs: all their calls run at once, and what carries them serves again.
#include "core/sched/gang.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "core/sched/statistics.h"
#include "platform/cycles.h"

namespace {

using namespace weft::core;

struct Pair : ParallelCall {
  std::atomic<int> arrived{0};
};

// Both wait for each other without leaving their CPU.
void meet(ParallelCall* parallel_call, int) {
  auto* pair = static_cast<Pair*>(parallel_call);
  ++pair->arrived;
  while (pair->arrived.load() < 2) weft::platform::pause();
}

void run(Pair* pair) {
  pair->call = meet;
  pair->arrived = 0;
  publish(pair, 2);
  summon(pair, 1);
  meet(pair, 0);
  join(pair);
  // What was summoned may have come too late; it has ended when its carrier has time again.
  while (idle_carriers() == 0) std::this_thread::yield();
}

TEST(GangTest, SummonedCallsUseTheSameContextsAgain) {
  start({.slots = 2, .stack_size = 256 * 1024, .spin_ns = 100'000});
  Context* self = attach();
  // Outlives late claimers.
  static Pair* const pair = std::make_unique<Pair>().release();
  enter_region(self, 1);
  for (int i = 0; i < 20; ++i) run(pair);
  const int before = totals().donors;
  for (int i = 0; i < 300; ++i) run(pair);
  leave_region(self);
  EXPECT_LE(totals().donors, before + 8);
}

}  // namespace
