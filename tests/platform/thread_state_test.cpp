// SPDX-License-Identifier: Apache-2.0
#include "platform/thread_state.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

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
