// SPDX-License-Identifier: Apache-2.0
// Roots between regions: who computes counts as running, so that nobody runs in its place; who sleeps does not.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "platform/cycles.h"
#include "platform/thread_state.h"

namespace {

using namespace weft::core;
using weft::platform::now_ns;

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kLongest = 60'000 * kMillisecond;

struct Calls : ParallelCall {
  pid_t owner = 0;
  std::atomic<int> elsewhere{0};  // that ran on other threads than the owner's
};

void take_a_while(ParallelCall* parallel_call, int) {
  auto* calls = static_cast<Calls*>(parallel_call);
  if (static_cast<pid_t>(syscall(SYS_gettid)) != calls->owner) ++calls->elsewhere;
  const int64_t end = now_ns() + kMillisecond / 5;
  while (now_ns() < end) continue;
}

// A region of two; how many of its calls somebody else has run.
int region(Calls* calls) {
  Context* self = attach();
  calls->owner = static_cast<pid_t>(syscall(SYS_gettid));
  calls->elsewhere = 0;
  calls->call = take_a_while;
  enter_region(self, 2);
  publish(calls, 2);
  take_a_while(calls, 0);
  join(calls);
  leave_region(self);
  return calls->elsewhere.load();
}

// Outlive late claimers.
Calls g_calls;
Calls g_calls_of_other;

// The other root: after a region it does what it is told to.
class Other {
 public:
  enum What { nothing, computes, sleeps, begins_again, ends };

  Other() {
    thread_ = std::thread([this] { live(); });
    begin_again();
  }
  ~Other() {
    what_ = ends;
    thread_.join();
  }
  void tell(What what) { what_ = what; }
  void begin_again() {
    what_ = begins_again;
    while (what_.load() == begins_again) usleep(100);
  }

 private:
  void live() {
    for (;;) {
      const What what = what_.load();
      if (what == ends) break;
      if (what == begins_again) {
        region(&g_calls_of_other);
        what_ = computes;
      }
      if (what == sleeps) usleep(2000);
    }
    detach();
  }

  std::atomic<What> what_{nothing};
  std::thread thread_;
};

class RootWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    weft::platform::RunTimes times;
    if (!weft::platform::run_times(static_cast<pid_t>(syscall(SYS_gettid)), times)) {
      GTEST_SKIP() << "the kernel does not count how long threads run and wait";
    }
    start({.slots = 2, .stack_size = 256 * 1024, .spin_ns = 100'000});
  }
};

TEST_F(RootWatchTest, NobodyRunsInPlaceOfOneThatComputes) {
  Other other;
  const int64_t end = now_ns() + 200 * kMillisecond;
  int helped = 0;
  while (now_ns() < end) helped += region(&g_calls);
  EXPECT_EQ(helped, 0);
}

TEST_F(RootWatchTest, OneThatSleepsLeavesItsCpu) {
  Other other;
  other.tell(Other::sleeps);
  const int64_t end = now_ns() + kLongest;
  int helped = 0;
  while (helped == 0 && now_ns() < end) helped += region(&g_calls);
  EXPECT_GT(helped, 0);
}

TEST_F(RootWatchTest, OneThatComputesAfterASleepHasItsCpuAgain) {
  Other other;
  constexpr int kEnough = 50;
  int alone = 0;
  // It is watched for a while only, which may be over before a busy machine lets it run.
  for (const int64_t end = now_ns() + kLongest; alone < kEnough && now_ns() < end;) {
    other.begin_again();
    other.tell(Other::sleeps);
    while (region(&g_calls) == 0 && now_ns() < end) continue;
    other.tell(Other::computes);
    alone = 0;
    for (const int64_t soon = now_ns() + 200 * kMillisecond; alone < kEnough && now_ns() < soon;) {
      alone = region(&g_calls) == 0 ? alone + 1 : 0;
    }
  }
  EXPECT_GE(alone, kEnough);
}

}  // namespace
