// SPDX-License-Identifier: Apache-2.0
// Slots between processes: who gets them, who gives them, and that none is ever lost.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include "node/status.h"
#include "node_fixture.h"
#include "platform/process.h"

namespace {

using namespace weft::node;
using Clock = std::chrono::steady_clock;

class ProcessOfANodeTest : public NodeTest {
 protected:
  static std::vector<int> take_all(Process* process) {
    std::vector<int> slots;
    for (int slot = process->take(); slot >= 0; slot = process->take()) slots.push_back(slot);
    return slots;
  }

  // A process that has two slots and then does `next`.
  template <class Next>
  pid_t start_holder(Next&& next) {
    return start_child([&] { return take_all(join({.most = 2, .cpus = cpus(0, 2)})).size() == 2; }, next);
  }
};

TEST_F(ProcessOfANodeTest, AloneItTakesWhatItMay) {
  Process* process = join({.most = 3, .cpus = cpus(0, 4)});
  const std::vector<int> slots = take_all(process);
  EXPECT_EQ(slots.size(), 3u);
  EXPECT_EQ(process->held(), 3);
  for (const int slot : slots) EXPECT_TRUE(process->owns(slot));
  EXPECT_FALSE(process->pressed());
  for (const int slot : slots) process->give(slot);
  EXPECT_EQ(process->held(), 0);
}

TEST_F(ProcessOfANodeTest, FreeAreThoseThatTakeWouldFind) {
  Process* one = join({.most = 2, .cpus = cpus(0, 4)});
  Process* other = join({.most = 4, .cpus = cpus(0, 4)});
  EXPECT_EQ(one->count_free(4), 2);
  EXPECT_EQ(one->count_free(1), 1);
  EXPECT_EQ(other->count_free(4), 4);
  const std::vector<int> slots = take_all(other);
  EXPECT_EQ(one->count_free(2), 0);
  other->give(slots[0]);
  EXPECT_EQ(one->count_free(2), 1);
  other->give(slots[1]);
  EXPECT_GE(one->take(), 0);
  EXPECT_EQ(one->count_free(2), 1);
  // What others miss is not free to those that have their due.
  one->want(1);
  EXPECT_GE(one->take(), 0);
  other->want(1);
  EXPECT_EQ(one->count_free(2), 0);
  one->leave();
  EXPECT_EQ(one->count_free(2), 0);
}

TEST_F(ProcessOfANodeTest, NeighboursAreThoseWithCpusInCommon) {
  Process* first = join({.most = 2, .cpus = cpus(0, 2)});
  EXPECT_FALSE(first->has_neighbours());
  Process* elsewhere = join({.most = 2, .cpus = cpus(2, 2)});
  EXPECT_FALSE(first->has_neighbours());
  EXPECT_FALSE(elsewhere->has_neighbours());
  Process* across = join({.most = 2, .cpus = cpus(1, 2)});
  EXPECT_TRUE(first->has_neighbours());
  EXPECT_TRUE(elsewhere->has_neighbours());
  EXPECT_TRUE(across->has_neighbours());
  across->leave();
  EXPECT_FALSE(first->has_neighbours());
}

TEST_F(ProcessOfANodeTest, HandOver) {
  Process* rich = join({.most = 2, .cpus = cpus(0, 2)});
  Process* poor = join({.most = 2, .cpus = cpus(0, 2)});
  std::vector<int> slots = take_all(rich);
  EXPECT_EQ(poor->take(), -1);
  EXPECT_FALSE(rich->over());
  poor->want(2);
  EXPECT_TRUE(rich->pressed());
  EXPECT_TRUE(rich->over());
  EXPECT_EQ(rich->due(), 1);
  rich->give(slots.back());
  EXPECT_FALSE(rich->over());
  EXPECT_TRUE(poor->wait(0)) << "nobody has rung";
  // It must not snatch it back.
  EXPECT_EQ(rich->take(), -1);
  const int got = poor->take();
  EXPECT_EQ(got, slots.back());
  EXPECT_EQ(poor->take(), -1);
  // Nobody misses anything any more: no bounds.
  poor->want(0);
  EXPECT_FALSE(rich->pressed());
  poor->give(got);
  EXPECT_GE(rich->take(), 0);
}

TEST_F(ProcessOfANodeTest, ByWeight) {
  Process* heavy = join({.weight = 300, .most = 4, .cpus = cpus(0, 4)});
  Process* light = join({.weight = 100, .most = 4, .cpus = cpus(0, 4)});
  take_all(heavy);
  light->want(4);
  EXPECT_EQ(heavy->due(), 3);
  EXPECT_EQ(light->due(), 1);
  heavy->leave();
  EXPECT_EQ(take_all(light).size(), 1u);
  light->want(3);
  EXPECT_EQ(take_all(light).size(), 3u);
}

TEST_F(ProcessOfANodeTest, DisjointCpusDoNotMeet) {
  Process* left = join({.most = 2, .cpus = cpus(0, 2)});
  Process* right = join({.most = 2, .cpus = cpus(2, 2)});
  EXPECT_EQ(take_all(left), std::vector<int>({0, 1}));
  EXPECT_EQ(take_all(right), std::vector<int>({2, 3}));
  right->want(1);
  EXPECT_FALSE(left->pressed());
  EXPECT_EQ(right->take_away(), -1);
}

TEST_F(ProcessOfANodeTest, TakenAwayFromWhoDoesNotGive) {
  Process* rich = join({.most = 2, .cpus = cpus(0, 2)});
  Process* poor = join({.most = 2, .cpus = cpus(0, 2)});
  const std::vector<int> slots = take_all(rich);
  EXPECT_EQ(poor->take_away(), -1) << "nobody is over";
  poor->want(1);
  const int got = poor->take_away();
  ASSERT_GE(got, 0);
  EXPECT_TRUE(poor->owns(got));
  EXPECT_FALSE(rich->owns(got));
  EXPECT_EQ(poor->take_away(), -1) << "it has its due";
  EXPECT_EQ(rich->held(), 2) << "it has not noticed yet";
  rich->give(got);
  EXPECT_EQ(rich->held(), 1);
  EXPECT_TRUE(poor->owns(got)) << "only the owner can give it back";
}

// Nobody has more than his due, but the one slot that is free is of no use to the one who lacks one.
TEST_F(ProcessOfANodeTest, MovesToAnotherSlot) {
  Process* narrow = join({.most = 1, .cpus = cpus(0, 1)});
  Process* wide = join({.most = 2, .cpus = cpus(0, 2)});
  ASSERT_EQ(wide->take(), 0);
  narrow->want(1);
  EXPECT_EQ(narrow->take(), -1);
  EXPECT_FALSE(wide->over());
  ASSERT_EQ(narrow->take_away(), 0);
  EXPECT_FALSE(wide->owns(0));
  wide->give(0);
  narrow->want(0);
  EXPECT_EQ(wide->take(), 1);
  // Now there is nothing that it could have instead.
  wide->want(1);
  EXPECT_EQ(wide->take_away(), -1);
}

// What a process that is killed, or becomes another program, has held is free again.
void expect_freed(Process* survivor, pid_t child) {
  const auto end = Clock::now() + std::chrono::seconds(20);
  int freed = 0;
  while (freed == 0 && Clock::now() < end) {
    freed = survivor->remove_dead(Check::marks);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(freed, 2) << "of process " << child;
}

TEST_F(ProcessOfANodeTest, SlotsOfTheKilled) {
  Process* survivor = join({.most = 2, .cpus = cpus(0, 2)});
  const pid_t child = start_holder([] {
    for (;;) pause();
  });
  EXPECT_EQ(survivor->take(), -1);
  EXPECT_EQ(survivor->remove_dead(Check::processes), 0);
  kill(child, SIGKILL);
  // Not collected yet: a zombie must do.
  expect_freed(survivor, child);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  EXPECT_EQ(take_all(survivor).size(), 2u);
}

TEST_F(ProcessOfANodeTest, SlotsOfWhoBecomesAnotherProgram) {
  Process* survivor = join({.most = 2, .cpus = cpus(0, 2)});
  const pid_t child = start_holder([] { execlp("sleep", "sleep", "60", static_cast<char*>(nullptr)); });
  expect_freed(survivor, child);
  kill(child, SIGKILL);
  wait_for(child);
}

// A child has its parent's memory, but is nobody until it joins.
TEST_F(ProcessOfANodeTest, ChildOfAFork) {
  Process* parent = join({.most = 2, .cpus = cpus(0, 2)});
  const int slot = parent->take();
  const pid_t child = run_child([&] {
    Process* own = join({.most = 2, .cpus = cpus(0, 2)});
    const bool free = own != nullptr && own->take() >= 0 && own->take() == -1;
    own->leave();
    return free ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_TRUE(parent->owns(slot));
  EXPECT_EQ(take_all(parent).size(), 1u);
}

// The threads of a process share its part, and count what it has right.
TEST_F(ProcessOfANodeTest, ThreadsOfOneProcess) {
  constexpr int kSlots = 3;
  constexpr int kRounds = 3000;
  Process* first = join({.most = kSlots, .cpus = cpus(0, kSlots)});
  Process* second = join({.most = kSlots, .cpus = cpus(0, kSlots)});
  std::atomic<int> taken{0};
  std::atomic<bool> too_many{false};
  std::atomic<bool> stop{false};
  const auto work = [&](Process* process) {
    for (int i = 0; i < kRounds; ++i) {
      const int slot = process->take();
      if (slot >= 0) {
        if (++taken > kSlots) too_many = true;
        --taken;
        process->give(slot);
      } else if (i % 16 == 0) {
        process->want(1);
      }
    }
  };
  std::thread monitor([&] {
    while (!stop) {
      first->wait(100'000);
      first->want(0);
      second->want(0);
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) threads.emplace_back(work, i % 2 == 0 ? first : second);
  for (std::thread& thread : threads) thread.join();
  stop = true;
  monitor.join();
  EXPECT_FALSE(too_many);
  EXPECT_EQ(first->held(), 0);
  EXPECT_EQ(second->held(), 0);
  first->want(0);
  second->want(0);
  EXPECT_EQ(take_all(first).size(), static_cast<size_t>(kSlots));
}

TEST_F(ProcessOfANodeTest, TooMany) {
  int joined[2];
  ASSERT_EQ(pipe(joined), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < kMostProcesses; ++i) {
    children.push_back(run_child([&] {
      const bool in = join({.cpus = cpus(0, 1)}) != nullptr;
      if (write(joined[1], in ? "y" : "n", 1) != 1) return 1;
      for (;;) pause();
    }));
  }
  close(joined[1]);
  for (int i = 0; i < kMostProcesses; ++i) {
    char in = 0;
    EXPECT_EQ(read(joined[0], &in, 1), 1);
    EXPECT_EQ(in, 'y') << i << " have joined";
  }
  close(joined[0]);
  Reason reason;
  EXPECT_EQ(Process::join(path(), {.cpus = cpus(0, 1)}, reason), nullptr);
  EXPECT_NE(std::string(reason.text).find("256 processes"), std::string::npos) << reason.text;
  for (const pid_t child : children) kill(child, SIGKILL);
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), -SIGKILL);
  Process* process = join({.cpus = cpus(0, 1)});
  EXPECT_GE(process->take(), 0);
}

// Its number serves another process. The kernel has not marked the end, as it cannot for who is killed for memory on
// some.
TEST_F(ProcessOfANodeTest, NumberUsedAgain) {
  Process* process = join({.most = 2, .cpus = cpus(0, 2)});
  Process* gone = join({.most = 2, .cpus = cpus(0, 2)});
  EXPECT_GE(gone->take(), 0);
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
  ASSERT_NE(segment, nullptr);
  Record& record = segment->layout().records[1];
  if (record.inode != 0) {
    // Who sees another start has another clock.
    ++record.start;
    EXPECT_EQ(process->remove_dead(Check::processes), 0);
    EXPECT_FALSE(gone->lost());
    ++record.inode;
  } else {
    ++record.start;
  }
  EXPECT_EQ(process->remove_dead(Check::processes), 1);
  EXPECT_TRUE(gone->lost());
  EXPECT_EQ(take_all(process).size(), 2u);
}

// An end that the kernel has not marked, on one that gives processes no inodes.
TEST_F(ProcessOfANodeTest, EndWithoutAMark) {
  Process* survivor = join({.most = 2, .cpus = cpus(0, 2)});
  const pid_t child = start_holder([] {
    for (;;) pause();
  });
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
  Record& record = segment->layout().records[1];
  const uint32_t life = record.life;
  record.inode = 0;
  EXPECT_EQ(survivor->remove_dead(Check::processes), 0);
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  record.life = life;
  EXPECT_EQ(survivor->remove_dead(Check::marks), 0);
  EXPECT_EQ(survivor->remove_dead(Check::processes), 2);
}

// Others have taken it for dead, and somebody new has its record: nothing of that one's is touched by its end.
TEST_F(ProcessOfANodeTest, EndOfOneTakenForDead) {
  Process* survivor = join({.most = 2, .cpus = cpus(0, 2)});
  const pid_t child = start_holder([] {
    for (;;) pause();
  });
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
  Record& record = segment->layout().records[1];
  record.life = FUTEX_OWNER_DIED;
  EXPECT_EQ(survivor->remove_dead(Check::marks), 2);
  EXPECT_EQ(record.life, 0u);
  Process* heir = join({.most = 2, .cpus = cpus(0, 2)});
  ASSERT_NE(heir, nullptr);
  EXPECT_EQ(take_all(heir).size(), 2u);
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  EXPECT_EQ(survivor->remove_dead(Check::processes), 0);
  EXPECT_FALSE(heir->lost());
}

// Two threads change a number at the same time, and who was first writes last: what the others see is right in the end.
TEST_F(ProcessOfANodeTest, WhatOthersSeeIsWhatItIs) {
  constexpr int kRounds = 20'000;
  constexpr int kLooks = 2000;
  Process* process = join({.most = 4, .cpus = cpus(0, 4)});
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
  const Record& record = segment->layout().records[0];
  std::atomic<int> arrived{0};
  int wrong = 0;
  const auto meet = [&](int times) {
    ++arrived;
    for (int i = 0; arrived < times; ++i) {
      if (i > kLooks) std::this_thread::yield();
    }
  };
  const auto work = [&](int self) {
    for (int i = 0; i < kRounds; ++i) {
      meet(6 * i + 2);
      const int slot = process->take();
      if (i % 2 != 0) process->give(slot);
      if (i % 8 == 0) process->want(self);
      meet(6 * i + 4);
      if (self == 0 && record.held != static_cast<uint32_t>(process->held())) ++wrong;
      if (self == 0 && record.missing != static_cast<uint32_t>(process->missing())) ++wrong;
      meet(6 * i + 6);
      if (i % 2 == 0) process->give(slot);
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_EQ(wrong, 0);
}

// Each word in turn is overwritten, in a process of its own, which goes on and leaves.
TEST_F(ProcessOfANodeTest, AnyWordOverwritten) {
  const auto live_on = [](Process* process) {
    alarm(60);
    for (int i = 0; i < 3; ++i) {
      const int slot = process->take();
      process->want(1);
      process->wait(0);
      process->take_away();
      const uint64_t ticket = process->queue().draw();
      if (process->queue().enter(ticket, 2, false) || process->queue().enter(ticket, 2, true))
        process->queue().leave(2);
      int64_t used = 0;
      process->queue().others_sleep(used);
      process->remove_dead(i == 0 ? Check::processes : Check::marks);
      if (slot >= 0) process->give(slot);
      if (i > 0) process->tick();
    }
    if (process->lost()) process->resign();
    process->leave();
  };
  std::vector<std::pair<size_t, size_t>> ranges = {
      {offsetof(Layout, header), sizeof(Header)},
      {offsetof(Layout, slots), 2 * sizeof(Owner)},
      {offsetof(Layout, records), sizeof(Record)},
  };
  for (const auto& [begin, size] : ranges) {
    for (size_t at = begin; at < begin + size; at += sizeof(uint64_t)) {
      const pid_t child = run_child([&] {
        for (const uint64_t value : {uint64_t{0}, uint64_t{0x0101010101010101}, ~uint64_t{0}}) {
          Process* process = join({.most = 2, .rule = Rule::fitting, .cpus = cpus(0, 2)});
          Reason reason;
          const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
          if (process == nullptr || segment == nullptr) return 1;
          std::memcpy(reinterpret_cast<char*>(&segment->layout()) + at, &value, sizeof value);
          live_on(process);
          unlink(path());
        }
        return 0;
      });
      ASSERT_EQ(wait_for(child), 0) << "word at " << at;
    }
  }
}

// For who looks from outside: what waits for messages, and nothing of who had the record before.
TEST_F(ProcessOfANodeTest, OthersSeeWhatWaits) {
  const auto seen = [&](size_t number) {
    NodeStatus status;
    Reason reason;
    EXPECT_TRUE(read_status(path(), status, reason)) << reason.text;
    return status.processes.at(number);
  };
  join({.most = 2, .cpus = cpus(0, 2)});
  Process* second = join({.most = 2, .cpus = cpus(0, 2)});
  EXPECT_EQ(seen(1).pending, 0);
  second->tell_pending(3, 5'000'000'000);
  EXPECT_EQ(seen(0).pending, 0);
  EXPECT_EQ(seen(1).pending, 3);
  EXPECT_EQ(seen(1).silent_ns, 5'000'000'000);
  second->leave();
  second = join({.most = 2, .cpus = cpus(0, 2)});
  EXPECT_EQ(seen(1).pending, 0);
  EXPECT_EQ(seen(1).silent_ns, 0);
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
  ASSERT_NE(segment, nullptr);
  segment->layout().records[1].pending = ~uint64_t{0};
  segment->layout().records[1].silent_ns = ~uint64_t{0};
  EXPECT_EQ(seen(1).pending, INT64_MAX);
  EXPECT_EQ(seen(1).silent_ns, INT64_MAX);
}

TEST_F(ProcessOfANodeTest, NonsenseInTheSegment) {
  Process* process = join({.most = 2, .cpus = cpus(0, 2)});
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
  ASSERT_NE(segment, nullptr);
  Layout& layout = segment->layout();
  layout.slots[0] = ~Owner{0};
  layout.slots[1] = owner_of(77, kMostProcesses - 1);
  layout.header.top = ~0u;
  layout.header.top_cpu = ~0u;
  layout.records[1].weight = -5;
  layout.records[1].missing = ~0u;
  layout.records[1].serial = 9;
  layout.records[1].beat = 9;
  layout.records[1].terms = ~0u;
  EXPECT_EQ(process->take(), -1);
  process->want(2);
  process->take_away();
  process->wait(0);
  // What belongs to nobody is free again.
  EXPECT_EQ(process->remove_dead(Check::processes), 2);
}

// Processes take, give and ask at random and are killed at random; then all slots are free, and the file goes with the
// last one. Each also checks that no slot is with two of them, by a word that only the holder may hold.
TEST_F(ProcessOfANodeTest, KilledAtRandom) {
  constexpr int kSlots = 4;
  constexpr int kProcesses = 4;
  constexpr int kKills = 60;
  struct Shared {
    std::atomic<int> holder[kSlots];
    std::atomic<uint64_t> rounds;
    std::atomic<bool> twice;
    std::atomic<bool> stop;
  };
  auto* shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  const auto work = [&] {
    Process* process = join({.weight = 100, .most = kSlots, .cpus = cpus(0, kSlots)});
    if (process == nullptr) return 1;
    std::minstd_rand random(static_cast<unsigned>(getpid()));
    std::vector<int> mine;
    int ticks = 0;
    while (!shared->stop) {
      ++shared->rounds;
      const int slot = process->take();
      if (slot >= 0) {
        mine.push_back(slot);
        int before = shared->holder[slot].exchange(getpid());
        // The last holder may have been killed before it could clear its word; its end takes a moment.
        const auto patience = Clock::now() + std::chrono::seconds(10);
        while (before != 0 && before != getpid() && weft::platform::process_start(before) != 0) {
          if (Clock::now() > patience) shared->twice = true;
          if (shared->twice) break;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }
      if (!mine.empty() && (random() % 3 == 0 || process->over())) {
        const int back = mine.back();
        mine.pop_back();
        int holder = getpid();
        shared->holder[back].compare_exchange_strong(holder, 0);
        process->give(back);
      }
      if (random() % 16 == 0) process->want(static_cast<int>(random() % (kSlots + 1)));
      if (++ticks % 64 == 0) process->remove_dead(Check::marks);
      if (random() % 8 == 0) std::this_thread::yield();
    }
    for (const int slot : mine) {
      shared->holder[slot] = 0;
      process->give(slot);
    }
    process->leave();
    return 0;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) children.push_back(run_child(work));
  std::minstd_rand random(1);
  for (int i = 0; i < kKills; ++i) {
    const uint64_t rounds = shared->rounds;
    while (shared->rounds < rounds + random() % 2000) std::this_thread::sleep_for(std::chrono::microseconds(100));
    pid_t& victim = children[random() % children.size()];
    kill(victim, SIGKILL);
    EXPECT_EQ(wait_for(victim), -SIGKILL);
    victim = run_child(work);
  }
  shared->stop = true;
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_FALSE(shared->twice) << "a slot was with two processes";
  EXPECT_FALSE(exists()) << "the last process has not removed the file";
  munmap(shared, sizeof(Shared));
}

}  // namespace
