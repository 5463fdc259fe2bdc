// SPDX-License-Identifier: Apache-2.0
// Who wants to be told of the monitor's ticks is told: before there is a monitor, when it rests, and when it is about
// to.
#include "core/monitor/ticks.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../await.h"
#include "core/sched/lateness.h"
#include "core/sched/start.h"
#include "core/sched/watcher.h"

namespace {

using namespace weft::core;

std::atomic<int> g_told{0};
std::atomic<int> g_more{0};  // how often the watcher still says that it wants to be told again

bool watch() noexcept {
  ++g_told;
  return g_more.fetch_sub(1) > 0;
}

bool watch_and_set_again() noexcept {
  watch_ticks(watch);
  return false;
}

TEST(TicksTest, WatcherIsToldAsLongAsItWants) {
  if (has_monitor()) GTEST_SKIP() << "the pool starts once a process";
  EXPECT_FALSE(ticks_watched());
  tick_watcher();
  EXPECT_FALSE(watch_ticks(watch)) << "nobody ticks yet";
  g_told = 0;
  g_more = 2;
  for (int told = 1; told <= 3; ++told) {
    EXPECT_TRUE(ticks_watched());
    tick_watcher();
    EXPECT_EQ(g_told.load(), told);
  }
  EXPECT_FALSE(ticks_watched());
  tick_watcher();
  EXPECT_EQ(g_told.load(), 3);
}

TEST(TicksTest, WatcherThatIsSetAgainWhileItAnswersNoStays) {
  if (has_monitor()) GTEST_SKIP() << "the pool starts once a process";
  watch_ticks(watch_and_set_again);
  tick_watcher();
  EXPECT_TRUE(ticks_watched());
  g_told = 0;
  g_more = 0;
  tick_watcher();
  EXPECT_EQ(g_told.load(), 1);
  EXPECT_FALSE(ticks_watched());
}

TEST(TicksTest, MonitorThatComesLaterFindsTheWatcher) {
  if (has_monitor()) GTEST_SKIP() << "the pool starts once a process";
  g_told = 0;
  g_more = 0;
  EXPECT_FALSE(watch_ticks(watch));
  start({.slots = 2, .stack_size = 256 * 1024});
  EXPECT_TRUE(await([] { return g_told.load() == 1; }));
}

// After each answer of no it is about to rest, or rests: it is set again at once, or a little later.
TEST(TicksTest, MonitorThatRestsIsWoken) {
  start({.slots = 2, .stack_size = 256 * 1024});
  ASSERT_TRUE(await(has_monitor));
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    const int told = g_told.load();
    g_more = 0;
    ASSERT_TRUE(watch_ticks(watch));
    while (g_told.load() == told && ticks_watched()) std::this_thread::yield();
    ASSERT_TRUE(await([&] { return g_told.load() > told; })) << round;
    for (int i = 0; i < round % 10; ++i) std::this_thread::yield();
  }
}

// Each of them is told after it has asked, whoever else has asked meanwhile.
TEST(TicksTest, EachOfSeveralIsTold) {
  start({.slots = 2, .stack_size = 256 * 1024});
  ASSERT_TRUE(await(has_monitor));
  constexpr int kRounds = 40;
  std::atomic<int> missed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        // One call may have begun before.
        const int told = g_told.load();
        watch_ticks(watch);
        if (!await([&] { return g_told.load() > told; })) ++missed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missed.load(), 0);
}

TEST(LatenessTest, IsRememberedForAWhile) {
  Lateness lateness;
  EXPECT_FALSE(lateness.any());
  const int64_t now = weft::platform::now_ns();
  lateness.note(now + 1'000'000'000'000);
  EXPECT_TRUE(lateness.any());
  EXPECT_TRUE(lateness.any()) << "to ask changes nothing";
  lateness.note(now - 1'000'000'000);
  EXPECT_FALSE(lateness.any()) << "long ago";
  lateness.note(now + 1'000'000'000'000);
  EXPECT_TRUE(lateness.any()) << "once more";
}

}  // namespace
