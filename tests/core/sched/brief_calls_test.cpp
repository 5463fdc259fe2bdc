// SPDX-License-Identifier: Apache-2.0
// Parallel calls of short members: their carrier learns which these are and keeps them, and offers them when it was
// mistaken. Whatever is kept or offered, each call runs once.
#include "core/sched/brief_calls.h"

#include <array>
#include <atomic>

#include <gtest/gtest.h>

#include "core/sched/carrier.h"
#include "core/sched/open_entry.h"
#include "core/sched/scheduler.h"
#include "platform/cycles.h"

namespace {

using namespace weft::core;

constexpr int kCalls = 24;
static_assert(kCalls >= BriefFunctions::kLeastCalls);

TEST(BriefFunctionsTest, AreExpectedAfterSomeInARow) {
  BriefFunctions functions;
  const int a = 0;
  int noted = 0;
  while (!functions.expects(&a) && noted < 100) {
    functions.note(&a, 10);
    ++noted;
  }
  EXPECT_GT(noted, 1);
  EXPECT_LT(noted, 100);
  functions.note(&a, 10 * BriefFunctions::kBriefNs);
  EXPECT_FALSE(functions.expects(&a)) << "the last one was long";
  EXPECT_FALSE(functions.expects(nullptr));
}

TEST(BriefFunctionsTest, AMistakeIsMadeLessOftenEachTime) {
  BriefFunctions functions;
  const int a = 0;
  const auto until_expected = [&] {
    int noted = 0;
    for (; !functions.expects(&a); ++noted) functions.note(&a, 10);
    return noted;
  };
  const int first = until_expected();
  for (int needed = 2 * first; needed < 1000; needed *= 2) {
    functions.note_mistake(&a);
    EXPECT_EQ(until_expected(), needed);
  }
}

TEST(OpenEntryTest, WhatIsKeptIsSeenByItsCarrierOnly) {
  static ParallelCall call;
  OpenEntry entry;
  EXPECT_EQ(entry.any(), nullptr);
  entry.keep(&call);
  EXPECT_EQ(entry.any(), &call);
  EXPECT_EQ(entry.offered(), nullptr);
  EXPECT_TRUE(entry.release());
  EXPECT_EQ(entry.offered(), &call);
  EXPECT_FALSE(entry.release()) << "it is offered already";
  entry.clear();
  EXPECT_EQ(entry.any(), nullptr);
  EXPECT_FALSE(entry.release());
}

struct Record : ParallelCall {
  std::array<std::atomic<int>, kCalls> begun{};
  void (*body)(Record& record, int index) = nullptr;
  std::atomic<int> open{0};  // what the body waits for
};

void run_call(ParallelCall* parallel_call, int index) {
  auto* record = static_cast<Record*>(parallel_call);
  record->begun[static_cast<size_t>(index)].fetch_add(1, std::memory_order_relaxed);
  record->body(*record, index);
}

// Late claimers may look at it for as long as the pool lives.
Record& record_of_test() {
  static auto* record = new Record;
  return *record;
}

void nothing(Record&, int) {}

// Each mistake makes it harder to be expected, so each round has a function of its own.
const void* function_of(int round) {
  static const std::array<char, 4096> functions{};
  return &functions[static_cast<size_t>(round)];
}

// One life of the record, whose calls run `body`. Whether it was kept when it had been published.
bool live(Record& record, void (*body)(Record&, int), const void* function) {
  Context* self = attach();
  enter_region(self, kCalls);
  for (auto& count : record.begun) count.store(0, std::memory_order_relaxed);
  record.open.store(0, std::memory_order_relaxed);
  record.body = body;
  record.call = run_call;
  record.function.store(function, std::memory_order_relaxed);
  publish(&record, kCalls);
  const bool kept = self->carrier->kept_call.call == &record;
  if (kept) {
    EXPECT_EQ(self->carrier->open[static_cast<size_t>(record.open_index)].offered(), nullptr);
  }
  join(&record);
  EXPECT_EQ(self->carrier->kept_call.call, nullptr);
  for (int i = 1; i < kCalls; ++i) EXPECT_EQ(record.begun[static_cast<size_t>(i)].load(), 1) << "call " << i;
  EXPECT_TRUE(record.is_over());
  leave_region(self);
  return kept;
}

class BriefCallsTest : public testing::Test {
 protected:
  void SetUp() override { start({.slots = 4, .stack_size = 256 * 1024, .spin_ns = 100'000}); }

  // Busy machines and sanitizers make short calls long now and then.
  static void make_expected(Record& record, const void* function) {
    for (int i = 0; i < 100'000; ++i) {
      if (live(record, nothing, function)) return;
      attach()->carrier->brief.note(function, 0);
    }
    FAIL() << "calls that do nothing are never kept";
  }
};

TEST_F(BriefCallsTest, ShortOnesAreKept) { make_expected(record_of_test(), function_of(0)); }

TEST_F(BriefCallsTest, AMemberThatWaitsForALaterOneIsHelped) {
  Record& record = record_of_test();
  const auto waits = [](Record& mine, int index) {
    if (index == kCalls - 1) mine.open.store(1);
    while (mine.open.load() == 0) {
      if (!weft::core::yield()) weft::platform::pause();
    }
  };
  for (int round = 0; round < 20; ++round) {
    make_expected(record, function_of(round));
    live(record, waits, function_of(round));
  }
}

// Without a call of the runtime: the monitor sees that nothing moves.
TEST_F(BriefCallsTest, AMemberThatSpinsForALaterOneIsHelped) {
  Record& record = record_of_test();
  const auto spins = [](Record& mine, int index) {
    if (index == 2) mine.open.store(1);
    while (index == 1 && mine.open.load() == 0) weft::platform::pause();
  };
  for (int round = 0; round < 3; ++round) {
    make_expected(record, function_of(round));
    live(record, spins, function_of(round));
  }
}

TEST_F(BriefCallsTest, MembersOfAnyLengthRunOnce) {
  Record& record = record_of_test();
  const auto uneven = [](Record& mine, int index) {
    const int pauses = mine.open.load(std::memory_order_relaxed);
    for (int i = 0; i < (index * 7 % 5 == 0 ? pauses : 0); ++i) weft::platform::pause();
  };
  int kept = 0;
  for (int round = 0; round < 3000; ++round) {
    const void* function = function_of(round / 8);
    if (round % 8 == 0) make_expected(record, function);
    record.open.store(round % 311, std::memory_order_relaxed);
    // Also where sanitizers make the last ones long, and after a mistake in each of the rounds.
    for (int i = 0; i < 2000; ++i) attach()->carrier->brief.note(function, 0);
    kept += live(record, round % 3 == 0 ? uneven : nothing, function) ? 1 : 0;
  }
  EXPECT_GT(kept, 0);
}

// The call that a kept one's member publishes, and the kept one behind it.
TEST_F(BriefCallsTest, AMemberMayPublish) {
  Record& record = record_of_test();
  const auto publishes = [](Record&, int index) {
    static auto* inner = new Record;
    if (index != 3) return;
    inner->body = nothing;
    inner->call = run_call;
    publish(inner, kCalls);
    join(inner);
  };
  for (int round = 0; round < 50; ++round) {
    make_expected(record, function_of(round));
    live(record, publishes, function_of(round));
  }
}

}  // namespace
