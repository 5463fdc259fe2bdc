// SPDX-License-Identifier: Apache-2.0
#include "platform/thread_state.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

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
