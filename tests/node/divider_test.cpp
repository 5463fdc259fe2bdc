// SPDX-License-Identifier: Apache-2.0
// Who divides, and how often: one for all, when something has changed; and somebody else when that one is killed or
// stopped, at whichever instruction.
#include "node/divider.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "node_fixture.h"

namespace {

using namespace weft::node;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

class DividerTest : public NodeTest {
 protected:
  Layout& layout() {
    if (segment_ == nullptr) {
      Reason reason;
      segment_.reset(Segment::open(path(), Segment::Missing::leave, reason));
      EXPECT_NE(segment_, nullptr) << reason.text;
    }
    return segment_->layout();
  }
  Header& header() { return layout().header; }

  // That all have made together, of those that still take part.
  uint64_t divisions() {
    uint64_t sum = 0;
    for (const Record& record : layout().records) sum += record.divisions;
    return sum;
  }

  std::vector<Process*> join_many(int count, int cpu_count) {
    std::vector<Process*> processes;
    for (int i = 0; i < count; ++i) processes.push_back(join({.most = cpu_count, .cpus = cpus(0, cpu_count)}));
    return processes;
  }

  // Ticks, as a monitor does, until something is so.
  template <class Condition>
  static bool await(Process* process, int missing, Condition&& condition) {
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (Clock::now() > end) return false;
      process->tick();
      process->want(missing);
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }

 private:
  std::unique_ptr<Segment> segment_;
};

TEST_F(DividerTest, NobodyDividesWhenNothingHasChanged) {
  constexpr int kProcesses = 8;
  const std::vector<Process*> processes = join_many(kProcesses, 4);
  for (Process* process : processes) process->want(2);
  const uint64_t before = divisions();
  const uint32_t turns = header().turn;
  constexpr int kTicks = 200;
  for (int i = 0; i < kTicks; ++i) {
    for (Process* process : processes) process->want(2);
  }
  EXPECT_LE(divisions() - before, header().turn - turns) << "one a turn, and no more";
}

// Each of them has changed its wish, again and again: there are no more divisions for that than a round allows.
TEST_F(DividerTest, ManyChangesAreDividedTogether) {
  constexpr int kProcesses = 128;
  const std::vector<Process*> processes = join_many(kProcesses, 64);
  const auto ended = [&] { return header().changes == header().divided; };
  for (Process* process : processes) process->want(1);
  const uint64_t before = divisions();
  const uint32_t rounds = header().rounds;
  const uint32_t changes = header().changes;
  constexpr int kTimes = 20;
  for (int i = 1; i <= kTimes; ++i) {
    for (Process* process : processes) process->want(1 + i);
  }
  EXPECT_GE(header().changes - changes, static_cast<uint32_t>(kTimes * kProcesses));
  // Two in a round beside the round's own.
  EXPECT_LE(divisions() - before, 3 * (header().rounds - rounds + 1));
  // What was left over is made up for.
  EXPECT_TRUE(await(processes.back(), 1 + kTimes, ended));
  int sum = 0;
  for (Process* process : processes) sum += process->due();
  EXPECT_EQ(sum, 64);
}

// Few processes may divide more often than many, also where there have been many.
TEST_F(DividerTest, FewMayDivideMoreOften) {
  std::vector<Process*> processes = join_many(128, 8);
  Process* first = processes.front();
  first->want(1);
  EXPECT_TRUE(await(first, 1, [&] { return header().processes == 128 && header().divisions_left <= 2; }));
  for (size_t i = 2; i < processes.size(); ++i) processes[i]->leave();
  EXPECT_TRUE(await(first, 1, [&] { return header().processes == 2 && header().divisions_left > 1000; }));
  for (int i = 0; i < 100; ++i) {
    first->want(1 + i % 2);
    EXPECT_EQ(header().changes, header().divided) << "the change waits for the next round";
  }
}

// A process that changes nothing itself reads what others have divided.
TEST_F(DividerTest, OneDividesForAll) {
  const std::vector<Process*> processes = join_many(4, 8);
  for (Process* process : processes) process->want(8);
  std::vector<uint64_t> before;
  for (size_t i = 0; i < processes.size(); ++i) before.push_back(layout().records[i].divisions);
  processes[0]->want(1);
  for (size_t i = 1; i < processes.size(); ++i) {
    EXPECT_GE(processes[i]->due(), 2);
    EXPECT_EQ(layout().records[i].divisions, before[i]);
  }
  EXPECT_EQ(processes[0]->due(), 1);
  EXPECT_GT(layout().records[0].divisions, before[0]);
}

TEST_F(DividerTest, AnotherOneSeesToTheRoundsWhenTheLeaderDoesNot) {
  Process* first = join({.most = 2, .cpus = cpus(0, 2)});
  Process* second = join({.most = 2, .cpus = cpus(0, 2)});
  EXPECT_TRUE(await(first, 1, [&] { return header().leader == 1; }));
  const uint32_t turn = header().turn;
  EXPECT_TRUE(await(second, 1, [&] { return header().leader == 2 && header().turn != turn; }));
}

// One that has the lock and does not let it go.
class HolderTest : public DividerTest {
 protected:
  pid_t start_holder() {
    return start_child(
        [&] {
          Reason reason;
          static Segment* segment;
          segment = Segment::open(path(), Segment::Missing::leave, reason);
          Holder mine = 0;
          Holder holder = 0;
          return segment != nullptr && segment->sit() && segment->try_lock_division(mine, 0, holder);
        },
        [] {
          for (;;) pause();
        });
  }
};

TEST_F(HolderTest, WhoIsStoppedLosesTheLock) {
  Process* process = join({.most = 4, .cpus = cpus(0, 4)});
  const pid_t child = start_holder();
  const Holder holder = header().division_lock;
  EXPECT_NE(holder, 0u);
  process->want(3);
  EXPECT_EQ(header().division_lock, holder) << "it is not taken at once";
  EXPECT_FALSE(process->pressed());
  EXPECT_TRUE(await(process, 3, [&] { return process->pressed() && process->due() == 3; }));
  EXPECT_EQ(header().division_lock, 0u);
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
}

TEST_F(HolderTest, WhoIsKilledLosesTheLockAtOnce) {
  Process* process = join({.most = 4, .cpus = cpus(0, 4)});
  const pid_t child = start_holder();
  const Holder holder = header().division_lock;
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  process->want(3);
  EXPECT_TRUE(process->pressed());
  EXPECT_EQ(process->due(), 3);
  EXPECT_NE(header().division_lock, holder);
}

// The word of a holder that never was, as something may have written it.
TEST_F(DividerTest, NonsenseInTheLock) {
  Process* process = join({.most = 4, .cpus = cpus(0, 4)});
  header().division_lock = ~Holder{0};
  header().divisions_left = ~0u;
  header().leader = ~0u;
  process->want(3);
  EXPECT_EQ(process->due(), 3);
}

// A process that lacks slots does not look at all of them again and again; but should nobody have said that one has
// been freed, it finds it all the same after a while.
TEST_F(DividerTest, SlotThatNobodyHasSpokenOf) {
  Process* rich = join({.most = 2, .cpus = cpus(0, 2)});
  Process* poor = join({.most = 2, .cpus = cpus(0, 2)});
  const int first = rich->take();
  const int second = rich->take();
  ASSERT_GE(second, 0);
  poor->want(1);
  EXPECT_EQ(poor->take(), -1);
  EXPECT_NE(header().lacking[0] & 2u, 0u);
  layout().slots[static_cast<size_t>(first)] = 0;
  EXPECT_EQ(poor->take(), -1) << "it has looked at all slots again";
  for (int i = 0; i < 16; ++i) poor->tick();
  EXPECT_EQ(poor->take(), first);
  // The usual way.
  rich->give(first);
  poor->give(first);
  poor->want(1);
  EXPECT_GE(poor->take(), 0);
  poor->want(0);
  EXPECT_EQ(header().lacking[0], 0u);
}

// One that is rung takes the slot that it was rung for, and the next one that lacks some is rung for the next.
TEST_F(DividerTest, EachThatLacksIsRungInTurn) {
  Process* rich = join({.most = 4, .cpus = cpus(0, 4)});
  const std::vector<Process*> poor = {join({.most = 4, .cpus = cpus(0, 4)}), join({.most = 4, .cpus = cpus(0, 4)})};
  std::vector<int> slots;
  for (int slot = rich->take(); slot >= 0; slot = rich->take()) slots.push_back(slot);
  for (Process* process : poor) process->want(1);
  for (Process* process : poor) {
    process->wait(0);
    EXPECT_EQ(process->take(), -1);
  }
  rich->give(slots[0]);
  rich->give(slots[1]);
  for (Process* process : poor) {
    EXPECT_TRUE(process->wait(0));
    EXPECT_GE(process->take(), 0);
  }
}

TEST_F(DividerTest, ThoseThatTakeSlotsBeginOnDifferentLines) {
  constexpr int kCpus = 192;
  constexpr int kLine = 8;
  Process* one = join({.most = kCpus, .cpus = cpus(0, kCpus)});
  Process* other = join({.most = kCpus, .cpus = cpus(0, kCpus)});
  std::set<int> lines;
  for (int i = 0; i < 4; ++i) {
    lines.insert(one->take() / kLine);
    lines.insert(other->take() / kLine);
  }
  EXPECT_EQ(lines.size(), 8u);
  int all = 8;
  while (one->take() >= 0) ++all;
  EXPECT_EQ(all, kCpus);
}

// Processes that change their wishes without end are killed and stopped at random, so often in the middle of a
// division. Whatever they leave, what one that remains is due is soon what it wants: it has the weight for it.
TEST_F(DividerTest, KilledAndStoppedAtRandom) {
  constexpr int kCpus = 8;
  constexpr int kProcesses = 5;
  constexpr int kRounds = 80;
  Process* heavy = join({.weight = kMostWeight, .most = kCpus, .cpus = cpus(0, kCpus)});
  const auto work = [&] {
    Process* process = join({.weight = 1, .most = kCpus, .cpus = cpus(0, kCpus)});
    if (process == nullptr) return 1;
    std::minstd_rand random(static_cast<unsigned>(getpid()));
    for (;;) {
      process->want(static_cast<int>(random() % kCpus));
      const int slot = random() % 4 == 0 ? process->take() : -1;
      if (slot >= 0) process->give(slot);
      if (random() % 64 == 0) std::this_thread::yield();
    }
    return 0;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) children.push_back(run_child(work));
  std::minstd_rand random(1);
  for (int i = 0; i < kRounds; ++i) {
    pid_t& victim = children[random() % children.size()];
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    const bool stops = random() % 2 == 0;
    kill(victim, stops ? SIGSTOP : SIGKILL);
    const int wanted = 1 + static_cast<int>(random() % (kCpus - 1));
    heavy->remove_dead(Check::marks);
    EXPECT_TRUE(await(heavy, wanted, [&] { return heavy->due() == wanted; })) << "round " << i;
    if (stops) {
      kill(victim, SIGCONT);
      continue;
    }
    EXPECT_EQ(wait_for(victim), -SIGKILL);
    victim = run_child(work);
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child), -SIGKILL);
  }
  heavy->remove_dead(Check::marks);
  EXPECT_TRUE(await(heavy, kCpus, [&] { return heavy->due() == kCpus; }));
  int taken = 0;
  while (heavy->take() >= 0) ++taken;
  EXPECT_EQ(taken, kCpus) << "a slot is lost";
}

}  // namespace
