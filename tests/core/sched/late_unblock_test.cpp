// SPDX-License-Identifier: Apache-2.0
// Whoever unblocks a context may be so late that it serves somebody else by then: it does not begin before its maker
// has launched it, and one that is held does not go on.
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/sched/blocking.h"
#include "core/sched/gang.h"
#include "core/sched/persistent_team.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"

namespace {

using namespace weft::core;

void set_up() { start({.slots = 4, .stack_size = 256 * 1024, .spin_ns = 20'000}); }

template <class Done>
void await(Done&& done) {
  while (!done()) std::this_thread::yield();
}

void raise_flag(void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }

TEST(LateUnblockTest, AContextBeginsWhenItsMakerLaunchesIt) {
  set_up();
  Context* self = attach();
  enter_region(self, 4);
  std::atomic<bool> begun{false};
  Context* context = make_context(raise_flag, &begun, 1);
  ASSERT_NE(context, nullptr);
  for (int i = 0; i < 20; ++i) {
    unblock(context);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(begun.load());
  launch(context);
  await([&] { return begun.load(); });
  leave_region(self);
}

struct Sleeper {
  std::atomic<bool> blocked{false};
  std::atomic<int> returns{0};
  std::atomic<bool> over{false};
};

void sleep_until_over(void* argument) {
  auto* sleeper = static_cast<Sleeper*>(argument);
  while (!sleeper->over.load()) {
    sleeper->blocked = true;
    block();
    ++sleeper->returns;
  }
  sleeper->blocked = false;
}

TEST(LateUnblockTest, AHeldContextDoesNotGoOn) {
  set_up();
  Context* self = attach();
  enter_region(self, 4);
  Sleeper sleeper;
  Context* context = make_context(sleep_until_over, &sleeper, 1);
  ASSERT_NE(context, nullptr);
  EXPECT_FALSE(hold(context));
  launch(context);
  await([&] { return sleeper.blocked.load() && hold(context); });
  const int returns = sleeper.returns.load();
  for (int i = 0; i < 20; ++i) {
    unblock(context);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sleeper.returns.load(), returns);
  let_go(context);
  sleeper.over = true;
  unblock(context);
  await([&] { return !sleeper.blocked.load(); });
  leave_region(self);
}

// Contexts that have served a persistent team or a gang go back to the pool and serve the next one, while somebody
// unblocks all that there have ever been.
std::atomic<long> g_calls{0};

void count_call(PersistentTeam*, int, const Post&) { ++g_calls; }
void ignore_nudge(PersistentTeam*, int, const Post&) {}

struct Gang : ParallelCall {};
void count_gang_call(ParallelCall*, int) { ++g_calls; }

TEST(LateUnblockTest, LateOnesDoNoHarmToTheNextLife) {
  set_up();
  constexpr int kMost = 64;
  static std::array<std::atomic<Context*>, kMost> seen;
  std::atomic<bool> over{false};
  std::vector<std::thread> late;
  for (int t = 0; t < 2; ++t) {
    late.emplace_back([&] {
      while (!over.load()) {
        for (auto& slot : seen) {
          if (Context* context = slot.load()) unblock(context);
        }
      }
    });
  }
  Context* self = attach();
  enter_region(self, 4);
  // Both stay: members and claimers look at them a moment after their end.
  static PersistentTeam* const persistent_team =
      std::make_unique<PersistentTeam>(count_call, ignore_nudge, nullptr).release();
  static Gang* const gang = std::make_unique<Gang>().release();
  long expected = 0;
  for (int round = 0; round < 300; ++round) {
    const int size = persistent_team->reserve(4);
    ASSERT_EQ(size, 4);
    for (int i = 1; i < size; ++i)
      seen[static_cast<size_t>((round * 3 + i) % kMost)] = persistent_team->member(i).context.load();
    for (int posts = 0; posts < 3; ++posts) {
      persistent_team->start(size, {});
      persistent_team->finish();
      persistent_team->trim();
      expected += size - 1;
    }
    persistent_team->dismiss();
    gang->call = count_gang_call;
    publish(gang, 3);
    summon(gang, 2);
    join(gang);
    expected += 2;
  }
  leave_region(self);
  over = true;
  for (auto& thread : late) thread.join();
  EXPECT_EQ(g_calls.load(), expected);
}

}  // namespace
