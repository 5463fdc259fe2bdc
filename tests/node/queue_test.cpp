// SPDX-License-Identifier: Apache-2.0
// The queue before regions, between processes: who may begin, in which order, and that nobody who is killed or stopped
// keeps the others out.
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include "node_fixture.h"
#include "platform/cycles.h"
#include "platform/process.h"

namespace {

using namespace weft::node;
using Clock = std::chrono::steady_clock;

class QueueTest : public NodeTest {
 protected:
  Process* join_queue(Rule rule, weft::platform::CpuSet set = cpus(0, 4)) {
    return join({.most = set.count(), .rule = rule, .cpus = set});
  }

  // Tries until it may; false after a while.
  static bool enters(Process* process, uint64_t ticket, int calls) {
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (!process->queue().enter(ticket, calls, false)) {
      if (Clock::now() > end) return false;
      process->remove_dead(Check::marks);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  // A process that is inside, or waits, and does nothing more.
  pid_t start_in_queue() {
    return start_child(
        [&] {
          Process* process = join_queue(Rule::one);
          process->queue().enter(process->queue().draw(), 2, false);
          return true;
        },
        [] { pause(); });
  }
};

TEST_F(QueueTest, OneAtATime) {
  Process* first = join_queue(Rule::one);
  Process* second = join_queue(Rule::one);
  Queue& queue = first->queue();
  Queue& other = second->queue();
  EXPECT_TRUE(queue.enter(queue.draw(), 2, false));
  const uint64_t ticket = other.draw();
  EXPECT_FALSE(other.enter(ticket, 2, false));
  EXPECT_FALSE(queue.enter(queue.draw(), 2, false)) << "nor one of its own";
  second->wait(0);
  queue.leave(2);
  EXPECT_TRUE(second->wait(0)) << "nobody has rung";
  EXPECT_TRUE(other.enter(ticket, 2, false));
  other.leave(2);
}

TEST_F(QueueTest, InTheOrderTheyCame) {
  Process* processes[] = {join_queue(Rule::one), join_queue(Rule::one), join_queue(Rule::one)};
  uint64_t tickets[3];
  for (int i = 0; i < 3; ++i) tickets[i] = processes[i]->queue().draw();
  EXPECT_TRUE(processes[0]->queue().enter(tickets[0], 1, false));
  // The last one asks first.
  EXPECT_FALSE(processes[2]->queue().enter(tickets[2], 1, false));
  EXPECT_FALSE(processes[1]->queue().enter(tickets[1], 1, false));
  processes[0]->queue().leave(1);
  EXPECT_FALSE(processes[2]->queue().enter(tickets[2], 1, false)) << "another one waits longer";
  EXPECT_TRUE(processes[1]->queue().enter(tickets[1], 1, false));
  EXPECT_FALSE(processes[0]->queue().enter(processes[0]->queue().draw(), 1, true)) << "another one waits longer";
  EXPECT_TRUE(processes[2]->queue().enter(tickets[2], 1, true)) << "it is its turn, so it need not fit";
}

TEST_F(QueueTest, AsManyAsFit) {
  Process* first = join_queue(Rule::fitting);
  Process* second = join_queue(Rule::fitting);
  EXPECT_TRUE(first->queue().enter(first->queue().draw(), 2, false));
  EXPECT_TRUE(second->queue().enter(second->queue().draw(), 1, false));
  EXPECT_TRUE(first->queue().enter(first->queue().draw(), 1, false));
  const uint64_t large = second->queue().draw();
  EXPECT_FALSE(second->queue().enter(large, 9, false));
  first->queue().leave(2);
  first->queue().leave(1);
  EXPECT_FALSE(second->queue().enter(large, 9, false));
  second->queue().leave(1);
  EXPECT_TRUE(second->queue().enter(large, 9, false)) << "it fits when it is alone";
  EXPECT_FALSE(first->queue().enter(first->queue().draw(), 1, false));
}

TEST_F(QueueTest, OthersDoNotMeet) {
  Process* left = join_queue(Rule::one, cpus(0, 2));
  Process* right = join_queue(Rule::one, cpus(2, 2));
  Process* fitting = join_queue(Rule::fitting);
  for (Process* process : {left, right, fitting})
    EXPECT_TRUE(process->queue().enter(process->queue().draw(), 2, false));
}

TEST_F(QueueTest, KilledInside) {
  Process* survivor = join_queue(Rule::one);
  const pid_t child = start_in_queue();
  const uint64_t ticket = survivor->queue().draw();
  EXPECT_FALSE(survivor->queue().enter(ticket, 2, false));
  kill(child, SIGKILL);
  wait_for(child);
  EXPECT_TRUE(enters(survivor, ticket, 2));
}

TEST_F(QueueTest, KilledWhileItWaits) {
  Process* survivor = join_queue(Rule::one);
  EXPECT_TRUE(survivor->queue().enter(survivor->queue().draw(), 2, false));
  const pid_t child = start_in_queue();
  survivor->queue().leave(2);
  const uint64_t ticket = survivor->queue().draw();
  EXPECT_FALSE(survivor->queue().enter(ticket, 2, false)) << "the other one waits longer";
  kill(child, SIGKILL);
  wait_for(child);
  EXPECT_TRUE(enters(survivor, ticket, 2));
}

// They say nothing any more: one that is inside, and one that waits.
TEST_F(QueueTest, Stopped) {
  Process* survivor = join_queue(Rule::one);
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) children.push_back(start_in_queue());
  EXPECT_TRUE(enters(survivor, survivor->queue().draw(), 2));
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    wait_for(child);
  }
}

TEST_F(QueueTest, StoppedAndKilledWithTheLock) {
  Process* survivor = join_queue(Rule::one);
  const pid_t child = start_child(
      [&] {
        Reason reason;
        Segment* segment = Segment::open(path(), Segment::Missing::leave, reason);
        return segment->sit() && segment->lock_queue(1'000'000'000);
      },
      [] { pause(); });
  EXPECT_TRUE(enters(survivor, survivor->queue().draw(), 2));
  kill(child, SIGKILL);
  wait_for(child);
  survivor->queue().leave(2);
  EXPECT_TRUE(enters(survivor, survivor->queue().draw(), 2));
}

TEST_F(QueueTest, NonsenseInTheSegment) {
  Process* process = join_queue(Rule::fitting);
  join_queue(Rule::fitting);
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
  ASSERT_NE(segment, nullptr);
  Layout& layout = segment->layout();
  layout.header.top = ~0u;
  layout.header.last_ticket = ~uint64_t{0};
  Record& record = layout.records[1];
  record.ticket = 1;
  record.inside = ~0u;
  record.calls = ~0u;
  ++record.beat;
  int64_t used = 0;
  process->queue().others_sleep(used);
  // It is alive no longer, by what it says.
  EXPECT_TRUE(enters(process, process->queue().draw(), 2));
  // What is written over its own words is right again when it changes them, or at its next tick.
  Record& own = layout.records[0];
  own.inside = own.calls = ~0u;
  own.ticket = 1;
  own.held = own.missing = 77;
  layout.header.top = layout.header.top_cpu = 0;
  process->tick();
  EXPECT_EQ(own.inside, 1u);
  EXPECT_EQ(own.calls, 2u);
  EXPECT_EQ(own.ticket, 0u);
  EXPECT_EQ(own.held, 0u);
  EXPECT_EQ(own.missing, 0u);
  EXPECT_EQ(layout.header.top, 1u);
  EXPECT_EQ(layout.header.top_cpu, 4u);
  own.inside = ~0u;
  process->queue().leave(2);
  EXPECT_EQ(own.inside, 0u);
}

// Processes go in and out and are killed at random; each checks that it is alone inside.
TEST_F(QueueTest, KilledAtRandom) {
  constexpr int kProcesses = 4;
  constexpr int kKills = 60;
  struct Shared {
    std::atomic<int> inside;
    std::atomic<uint64_t> rounds;
    std::atomic<bool> twice;
    std::atomic<bool> stop;
  };
  auto* shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  const auto work = [&] {
    Process* process = join_queue(Rule::one);
    if (process == nullptr) return 1;
    while (!shared->stop) {
      if (!enters(process, process->queue().draw(), 2)) return 2;
      ++shared->rounds;
      const int before = shared->inside.exchange(getpid());
      // Who was killed inside could not clear it; its end takes a moment.
      const auto patience = Clock::now() + std::chrono::seconds(10);
      while (before != 0 && before != getpid() && weft::platform::process_start(before) != 0 && !shared->twice) {
        if (Clock::now() > patience) shared->twice = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        process->beat();
      }
      int self = getpid();
      shared->inside.compare_exchange_strong(self, 0);
      process->queue().leave(2);
    }
    process->leave();
    return 0;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) children.push_back(run_child(work));
  std::minstd_rand random(1);
  for (int i = 0; i < kKills; ++i) {
    const uint64_t rounds = shared->rounds;
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (shared->rounds < rounds + random() % 50 && Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    ASSERT_LT(Clock::now(), end) << "nobody goes on";
    pid_t& victim = children[random() % children.size()];
    kill(victim, SIGKILL);
    EXPECT_EQ(wait_for(victim), -SIGKILL);
    victim = run_child(work);
  }
  shared->stop = true;
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_FALSE(shared->twice) << "two were inside";
  EXPECT_FALSE(exists());
  munmap(shared, sizeof(Shared));
}

}  // namespace
