// SPDX-License-Identifier: Apache-2.0
// Locks that other threads hold when the process forks are free in the child, whose only thread is the one that forked;
// and in the child's children.
#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/futex_lock.h"
#include "platform/spinlock.h"

namespace {

using weft::platform::FutexLock;
using weft::platform::Spinlock;

// The exit status of a child that does `work`; one that hangs ends by its alarm.
template <class Work>
int in_child(Work&& work) {
  constexpr unsigned kSeconds = 20;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    _exit(work());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Another thread's, from before this is made until it is gone.
template <class Lock>
class HeldByAnother {
 public:
  explicit HeldByAnother(Lock& lock) : thread_([this, &lock] { hold(lock); }) {
    while (!held_.load()) usleep(100);
  }
  ~HeldByAnother() {
    over_ = true;
    thread_.join();
  }

 private:
  void hold(Lock& lock) {
    const std::lock_guard guard(lock);
    held_ = true;
    while (!over_.load()) usleep(100);
  }

  std::atomic<bool> held_{false};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

template <class Lock>
class ForkLocksTest : public testing::Test {};
using Locks = testing::Types<weft::platform::Spinlock, weft::platform::FutexLock>;
TYPED_TEST_SUITE(ForkLocksTest, Locks);

TYPED_TEST(ForkLocksTest, AreFreeInTheChildren) {
  TypeParam lock;
  const HeldByAnother<TypeParam> other(lock);
  const int status = in_child([&] {
    // And they exclude as before.
    long sum = 0;
    std::thread second([&] {
      for (int i = 0; i < 10000; ++i) {
        const std::lock_guard guard(lock);
        ++sum;
      }
    });
    for (int i = 0; i < 10000; ++i) {
      const std::lock_guard guard(lock);
      ++sum;
    }
    second.join();
    if (sum != 20000) return 1;
    const HeldByAnother<TypeParam> again(lock);
    return in_child([&] {
      const std::lock_guard guard(lock);
      return 0;
    });
  });
  EXPECT_EQ(status, 0);
}

TYPED_TEST(ForkLocksTest, OfTheThreadThatForksAreGivenBackInBoth) {
  TypeParam lock;
  lock.lock();
  EXPECT_EQ(in_child([&] {
              lock.unlock();
              const std::lock_guard guard(lock);
              return 0;
            }),
            0);
  lock.unlock();
  const std::lock_guard guard(lock);
}

// Somebody sleeps for the lock when the process forks: in the child there is nobody to be woken.
TYPED_TEST(ForkLocksTest, ThatOthersWaitForAreFreeToo) {
  TypeParam lock;
  lock.lock();
  std::thread waiter([&] { const std::lock_guard guard(lock); });
  usleep(20'000);
  EXPECT_EQ(in_child([&] {
              lock.unlock();
              const std::lock_guard guard(lock);
              return 0;
            }),
            0);
  lock.unlock();
  waiter.join();
}

// The guard of a static object is such a lock (platform/static_guard.cpp).
TEST(ForkGuardsTest, AStaticThatAnotherThreadInitializesIsInitializedInTheChild) {
  static std::atomic<bool> begun{false};
  static std::atomic<bool> over{false};
  const auto value = [](bool waits) {
    static const int made = [waits] {
      begun = true;
      while (waits && !over.load()) usleep(100);
      return 7;
    }();
    return made;
  };
  std::thread other([&] { value(true); });
  while (!begun.load()) usleep(100);
  EXPECT_EQ(in_child([&] { return value(false) == 7 ? 0 : 1; }), 0);
  over = true;
  other.join();
}

}  // namespace
