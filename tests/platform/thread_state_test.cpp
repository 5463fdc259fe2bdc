// SPDX-License-Identifier: Apache-2.0
#include "platform/thread_state.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "platform/cycles.h"

namespace {

using namespace weft::platform;

pid_t own_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

TEST(ThreadStateTest, OneThatRuns) {
  EXPECT_EQ(thread_state(own_id()), ThreadState::running);
  // It may move between the two looks: sooner or later it does not.
  bool same = false;
  for (int i = 0; i < 1000 && !same; ++i) same = cpu_of_thread(own_id()) == sched_getcpu();
  EXPECT_TRUE(same);
}

// That there is one to spare cannot be had on purpose on a machine that others use.
TEST(ThreadStateTest, NoCpuToSpareWhereMoreThreadsRun) {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (long i = 0; i <= sysconf(_SC_NPROCESSORS_ONLN); ++i) {
    threads.emplace_back([&] {
      while (!over.load()) continue;
    });
  }
  bool none = false;
  for (int i = 0; i < 5000 && !none; ++i) {
    usleep(1000);
    none = !has_cpu_to_spare();
  }
  over.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(none);
}

TEST(ThreadStateTest, CountsWhatRuns) {
  EXPECT_GE(cpus_of_machine(), 1);
  EXPECT_GE(runnable_threads_of_machine(), 1);
}

TEST(ThreadStateTest, HowLongAThreadHasRun) {
  RunTimes before;
  if (!run_times(own_id(), before)) GTEST_SKIP() << "the kernel does not count it";
  RunTimes now = before;
  // The kernel adds what runs when it next looks at the thread.
  for (int i = 0; i < 10'000 && now.ran_ns < before.ran_ns + 10'000'000; ++i) {
    for (const int64_t end = now_ns() + 1'000'000; now_ns() < end;) continue;
    ASSERT_TRUE(run_times(own_id(), now));
  }
  EXPECT_GE(now.ran_ns, before.ran_ns + 10'000'000);
  EXPECT_GE(now.waited_ns, before.waited_ns);
  constexpr pid_t kNobody = 1 << 30;
  EXPECT_FALSE(run_times(kNobody, now));
}

TEST(ThreadStateTest, OneThatSleeps) {
  std::atomic<pid_t> id{0};
  std::atomic<bool> over{false};
  std::thread sleeper([&] {
    id.store(own_id());
    while (!over.load()) usleep(200'000);
  });
  while (id.load() == 0) usleep(100);
  ThreadState state = ThreadState::unknown;
  for (int i = 0; i < 1000 && state != ThreadState::sleeping; ++i) {
    usleep(1000);
    state = thread_state(id.load());
  }
  EXPECT_EQ(state, ThreadState::sleeping);
  EXPECT_EQ(cpu_of_thread(id.load()), -1);
  over.store(true);
  sleeper.join();
}

TEST(ThreadStateTest, OneThatIsNotThere) {
  EXPECT_EQ(thread_state(1), ThreadState::unknown);
  EXPECT_EQ(cpu_of_thread(1), -1);
}

}  // namespace
