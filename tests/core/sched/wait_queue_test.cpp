// SPDX-License-Identifier: Apache-2.0
// Nobody is forgotten in a WaitQueue, however waits and releases meet.
#include "core/sched/wait_queue.h"

#include <gtest/gtest.h>

#include <atomic>

#include "core/sched/blocking.h"
#include "core/sched/persistent_team.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"

namespace {

using namespace weft::core;

constexpr int kMembers = 12;
constexpr int kRounds = 3000;

// Members that meet kRounds times; whoever comes last opens the gate for the others.
struct Meeting {
  WaitQueue queue;
  std::atomic<int> arrived{0};
  std::atomic<int> opened{0};
  std::atomic<long> passed{0};
  std::atomic<long> early{0};  // members that were let go before all had come

  void meet(int round) {
    if (arrived.fetch_add(1) == kMembers - 1) {
      arrived.store(0);
      opened.store(round);
      queue.release();
    } else {
      while (opened.load() < round) {
        const uint32_t ticket = queue.ticket();
        if (opened.load() < round && !queue.wait(ticket)) yield();
      }
    }
    if (opened.load() < round) ++early;
    passed.fetch_add(1);
  }
};

void run(PersistentTeam* persistent_team, int, const Post&) {
  auto* meeting = static_cast<Meeting*>(persistent_team->owner_data());
  for (int round = 1; round <= kRounds; ++round) meeting->meet(round);
}

void meet_all(long spin_ns) {
  start({.slots = 2, .stack_size = 256u << 10, .spin_ns = spin_ns});
  Context* self = attach();
  enter_region(self, 1);
  // Members look at both a moment after they are done: these are never freed.
  static auto* meeting = new Meeting;
  static auto* persistent_team = new PersistentTeam(run, [](PersistentTeam*, int, const Post&) {}, meeting);
  meeting->opened = 0;
  meeting->passed = meeting->early = 0;
  ASSERT_TRUE(meeting->queue.reserve(kMembers));
  ASSERT_EQ(persistent_team->reserve(kMembers), kMembers);
  persistent_team->start(kMembers, {});
  run(persistent_team, 0, {});
  persistent_team->finish();
  EXPECT_EQ(meeting->passed.load(), long{kMembers} * kRounds);
  EXPECT_EQ(meeting->early.load(), 0);
  persistent_team->dismiss();
  leave_region(self);
}

TEST(WaitQueueTest, AllComeThrough) { meet_all(100'000); }

// Releases when nobody waits must not be remembered for those that come later with a new ticket.
TEST(WaitQueueTest, AnOldTicketDoesNotWait) {
  start({.slots = 2, .stack_size = 256u << 10, .spin_ns = 100'000});
  attach();
  WaitQueue queue;
  ASSERT_TRUE(queue.reserve(2));
  const uint32_t ticket = queue.ticket();
  queue.release();
  EXPECT_NE(queue.ticket(), ticket);
  queue.wait(ticket);  // returns: the release is later than the ticket
}

}  // namespace
