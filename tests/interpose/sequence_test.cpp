// SPDX-License-Identifier: Apache-2.0
// Jobs that one thread runs in sequence; what happens when they wait for each other; and many such calls at once.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "interpose/fiber_stacks.h"
#include "interpose/sequence.h"
#include "core/api/budget.h"
#include "core/api/fork.h"
#include "platform/cycles.h"

namespace {

using weft::interpose::Sequence;

// A call whose jobs wait until so many of them have begun, as those of a product wait for each other's packed blocks.
struct Call {
  int wait_for = 1;
  unsigned takes_us = 0;  // the first of those that tell, asleep
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  std::vector<int> order;  // of jobs that wait for none but themselves; 0: that are nowhere noted
};

void run_job(void* argument, int index) {
  auto* call = static_cast<Call*>(argument);
  ++call->begun;
  while (call->begun.load() < call->wait_for) continue;
  if (call->wait_for == 1) call->order.push_back(index);
  ++call->ended;
}

// Records outlive their calls, for those that come late.
Sequence* new_sequence() { return new Sequence; }

class SequenceTest : public testing::Test {
 protected:
  void SetUp() override { weft::core::start({.slots = 2, .stack_size = 256 * 1024, .spin_ns = 100'000}); }

  static void begin(Sequence* sequence, int count, Call* call) {
    weft::core::attach();
    // The monitor may be about to start.
    while (!sequence->begin(count, run_job, call)) usleep(100);
  }
};

TEST_F(SequenceTest, RunsThemInOrder) {
  Sequence* sequence = new_sequence();
  for (int count : {1, 2, 7}) {
    Call call;
    begin(sequence, count, &call);
    EXPECT_FALSE(sequence->run());
    EXPECT_EQ(call.ended.load(), count);
    for (int i = 0; i < count; ++i) EXPECT_EQ(call.order.at(static_cast<size_t>(i)), i);
  }
}

TEST_F(SequenceTest, OneThatIsStuckIsHelpedByTheMonitor) {
  Sequence* sequence = new_sequence();
  for (int round = 0; round < 20; ++round) {
    Call call{.wait_for = 4, .order = {}};
    begin(sequence, 4, &call);
    EXPECT_TRUE(sequence->run());
    EXPECT_EQ(call.ended.load(), 4);
  }
}

TEST_F(SequenceTest, TheMonitorComesBackWhenItHasStoppedLooking) {
  Sequence* sequence = new_sequence();
  for (int round = 0; round < 3; ++round) {
    usleep(300'000);
    Call call{.wait_for = 2, .order = {}};
    begin(sequence, 2, &call);
    EXPECT_TRUE(sequence->run());
  }
}

TEST_F(SequenceTest, HelpersThatStandByHelpOneThatIsStuck) {
  Sequence* sequence = new_sequence();
  for (int round = 0; round < 50; ++round) {
    const bool waits = round % 2 == 0;
    Call call{.wait_for = waits ? 3 : 0, .order = {}};
    begin(sequence, 3, &call);
    std::vector<std::thread> helpers;
    for (int i = 0; i < 2; ++i) helpers.emplace_back([=] { sequence->help_if_stuck(); });
    // One that does not wait is helped too, where it takes long to start the helpers.
    EXPECT_TRUE(sequence->run() || !waits);
    EXPECT_EQ(call.ended.load(), 3);
    for (auto& helper : helpers) helper.join();
  }
}

TEST_F(SequenceTest, HelpersThatStandByKnowOneThatHasLostItsCpu) {
  Sequence* sequence = new_sequence();
  Call call{.wait_for = 0, .order = {}};
  std::atomic<bool> begun{false};
  std::thread helper([&] {
    while (!begun.load()) continue;
    usleep(10'000);  // until the caller sleeps
    sequence->help_if_stuck();
  });
  begin(sequence, 2, &call);
  begun = true;
  usleep(50'000);
  EXPECT_EQ(call.begun.load(), 0);
  sequence->run();
  helper.join();
  EXPECT_EQ(call.ended.load(), 2);
}

// Jobs that say when they wait: any number of threads can run them.
void run_telling_job(void* argument, int index) {
  static auto* const wait = reinterpret_cast<void (*)()>(const_cast<void*>(weft::interpose::Fibers::wait_entry()));
  auto* call = static_cast<Call*>(argument);
  // In rounds: each waits for all others again and again, from wherever it runs.
  for (int round = 1; round <= 3; ++round) {
    ++call->begun;
    while (call->begun.load() < round * call->wait_for) wait();
  }
  if (index == 0 && call->takes_us > 0) usleep(call->takes_us);
  call->order.push_back(index);
  ++call->ended;
}

class TellingJobs : public SequenceTest {
 protected:
  void SetUp() override {
    if (!weft::interpose::Fibers::possible()) GTEST_SKIP() << "not on this machine";
    SequenceTest::SetUp();
    weft::core::attach();
  }
};

TEST_F(TellingJobs, AreRunByOneThread) {
  Sequence* sequence = new_sequence();
  for (int count : {1, 2, 7, 64}) {
    Call call{.wait_for = count, .order = {}};
    ASSERT_TRUE(sequence->begin(count, run_telling_job, &call, Sequence::Waits::seen));
    EXPECT_FALSE(sequence->run());
    EXPECT_EQ(call.ended.load(), count);
  }
}

// Taken for such, they wait without a word: the monitor helps, and it is known what they are.
TEST_F(TellingJobs, ThatDoNotTellAreFoundOut) {
  Sequence* sequence = new_sequence();
  Call call{.wait_for = 3, .order = {}};
  ASSERT_TRUE(sequence->begin(3, run_job, &call, Sequence::Waits::seen));
  EXPECT_TRUE(sequence->run());
  EXPECT_EQ(call.ended.load(), 3);
  EXPECT_TRUE(sequence->misjudged());
  Call next{.wait_for = 3, .order = {}};
  ASSERT_TRUE(sequence->begin(3, run_telling_job, &next, Sequence::Waits::seen));
  sequence->run();
  EXPECT_FALSE(sequence->misjudged());
}

// Those that only compute for so long are helped as well, and nothing is held against them.
TEST_F(TellingJobs, ThatComputeForLongAreNotSuspected) {
  Sequence* sequence = new_sequence();
  const auto compute = [](void* argument, int) {
    const auto used = [] { return weft::platform::clock_ns(CLOCK_THREAD_CPUTIME_ID); };
    for (const int64_t begin = used(); used() - begin < 1'500'000'000;) continue;
    ++static_cast<Call*>(argument)->ended;
  };
  Call call{.order = {}};
  ASSERT_TRUE(sequence->begin(2, compute, &call, Sequence::Waits::seen));
  EXPECT_TRUE(sequence->run());
  EXPECT_EQ(call.ended.load(), 2);
  EXPECT_FALSE(sequence->misjudged());
}

// Mappings as large as a fiber's stack.
int count_stacks() {
  constexpr unsigned long kSize = 256ul << 10;
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    char rights = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %c", &begin, &end, &rights) != 3) continue;
    count += end - begin == kSize && rights == 'r' ? 1 : 0;
  }
  return count;
}

TEST_F(TellingJobs, GiveTheirStacksBackWhenThereIsNoCallForAWhile) {
  constexpr int kJobs = 64;
  constexpr int kFew = 16;  // those that are kept, and what else happens to be as large
  constexpr int kTries = 2000;
  Sequence* sequence = new_sequence();
  Call first;
  begin(sequence, 1, &first);  // from here on there is a monitor
  sequence->run();
  // The second call takes longer than those who watch would otherwise look on.
  for (const bool takes_long : {false, true}) {
    Call call{.wait_for = kJobs, .takes_us = takes_long ? 300'000u : 0, .order = {}};
    ASSERT_TRUE(sequence->begin(kJobs, run_telling_job, &call, Sequence::Waits::seen));
    sequence->run();
    int now = count_stacks();
    ASSERT_GE(now, kJobs / 2);  // each CPU's thread runs one on its own stack
    for (int i = 0; i < kTries && now > kFew; ++i) {
      usleep(10'000);
      now = count_stacks();
    }
    EXPECT_LE(now, kFew);
  }
}

// Stacks are given back while others take some.
TEST_F(TellingJobs, MayBeginWhileStacksAreGivenBack) {
  static constexpr int kJobs = 20;
  static constexpr int kRounds = 300;
  std::atomic<bool> over{false};
  std::thread trimmer([&] {
    while (!over.load()) weft::interpose::FiberStack::trim();
  });
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([] {
      weft::core::attach();
      Sequence* sequence = new_sequence();
      for (int round = 0; round < kRounds; ++round) {
        Call call{.wait_for = kJobs, .order = {}};
        ASSERT_TRUE(sequence->begin(kJobs, run_telling_job, &call, Sequence::Waits::seen));
        sequence->run();
        ASSERT_EQ(call.ended.load(), kJobs);
      }
      weft::core::detach();
    });
  }
  for (auto& caller : callers) caller.join();
  over = true;
  trimmer.join();
}

TEST_F(TellingJobs, AreRunWhereTheirCallerWaits) {
  Sequence* outer = new_sequence();
  Sequence* inner = new_sequence();
  auto* const wait = reinterpret_cast<void (*)()>(const_cast<void*>(weft::interpose::Fibers::wait_entry()));
  Call call{.wait_for = 3, .order = {}};
  ASSERT_TRUE(outer->begin(3, run_telling_job, &call, Sequence::Waits::seen));
  outer->run_where_caller_waits();
  while (call.begun.load() < 3) wait();
  // A call inside another one, which has jobs under way.
  Call nested{.wait_for = 4, .order = {}};
  ASSERT_TRUE(inner->begin(4, run_telling_job, &nested, Sequence::Waits::seen));
  EXPECT_FALSE(inner->run());
  EXPECT_EQ(nested.ended.load(), 4);
  EXPECT_FALSE(outer->run());
  EXPECT_EQ(call.ended.load(), 3);
}

TEST_F(TellingJobs, AreRunByThoseThatCome) {
  constexpr int kJobs = 5;
  Sequence* sequence = new_sequence();
  for (int round = 0; round < 200; ++round) {
    Call call{.wait_for = kJobs, .order = {}};
    call.order.reserve(kJobs);
    const auto run = [](void* argument, int) {
      static auto* const wait = reinterpret_cast<void (*)()>(const_cast<void*>(weft::interpose::Fibers::wait_entry()));
      auto* of = static_cast<Call*>(argument);
      ++of->begun;
      while (of->begun.load() < of->wait_for) wait();
      ++of->ended;
    };
    ASSERT_TRUE(sequence->begin(kJobs, run, &call, Sequence::Waits::seen));
    std::thread helper([=] {
      weft::core::attach();
      sequence->take_part();
      weft::core::detach();
    });
    sequence->run();
    EXPECT_EQ(call.ended.load(), kJobs);
    helper.join();
  }
}

#if defined(__x86_64__)
// The compiler of a job knows of no call where it waits: all registers stay, also those that calls may change.
TEST_F(TellingJobs, KeepTheirRegisters) {
  static const void* const wait = weft::interpose::Fibers::wait_entry();
  static std::atomic<int> wrong{0};
  Sequence* sequence = new_sequence();
  Call call{.wait_for = 3, .order = {}};
  const auto run = [](void* argument, int index) {
    auto* of = static_cast<Call*>(argument);
    ++of->begun;
    while (of->begun.load() < of->wait_for) {
      const uint64_t mine = 0x1111111111111111u * static_cast<uint64_t>(index + 1);
      uint64_t vector = 0;
      uint64_t integer = 0;
      asm volatile(
          "movq %[mine], %%xmm9; mov %[mine], %%r10; call *%[wait]; movq %%xmm9, %[vector]; mov %%r10, %[integer]"
          : [vector] "=&r"(vector), [integer] "=&r"(integer)
          : [mine] "r"(mine), [wait] "r"(wait)
          : "xmm9", "r10", "memory");
      if (vector != mine || integer != mine) ++wrong;
    }
    ++of->ended;
  };
  ASSERT_TRUE(sequence->begin(3, run, &call, Sequence::Waits::seen));
  sequence->run();
  EXPECT_EQ(call.ended.load(), 3);
  EXPECT_EQ(wrong.load(), 0);
}
#endif

// Some of them wait, and late helpers are about.
TEST_F(SequenceTest, ManyAtOnce) {
  constexpr int kCallers = 6, kCalls = 3000;
  std::vector<Sequence*> sequences;
  for (int i = 0; i < kCallers; ++i) sequences.push_back(new_sequence());
  std::atomic<bool> over{false};
  std::thread late([&] {
    for (size_t i = 0; !over.load(); ++i) sequences[i % kCallers]->help_if_stuck();
  });
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      for (int n = 0; n < kCalls; ++n) {
        const int jobs = 2 + n % 5;
        // Jobs that do not wait may be run by several threads too.
        Call call{.wait_for = n % 500 == i ? jobs : 0, .order = {}};
        begin(sequences[static_cast<size_t>(i)], jobs, &call);
        sequences[static_cast<size_t>(i)]->run();
        ASSERT_EQ(call.ended.load(), jobs);
      }
      weft::core::detach();
    });
  }
  for (auto& caller : callers) caller.join();
  over = true;
  late.join();
}

}  // namespace
