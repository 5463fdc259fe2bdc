// SPDX-License-Identifier: Apache-2.0
// A context looks like a thread to everything that asks who it is.
#include "core/context/context.h"

#include <cerrno>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>

#include "core/context/context_pool.h"

namespace {

using weft::core::Context;
using weft::core::ContextPool;

constexpr size_t kStackSize = 256 * 1024;

// How many donors keep their threads: all, or none (core/context/donor.h).
size_t g_with_threads = SIZE_MAX;

class ContextTest : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override { g_with_threads = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Donors, ContextTest, testing::Values(SIZE_MAX, 0),
                         [](const auto& info) { return info.param == 0 ? "Absent" : "Present"; });

// Runs a function in a context; yield() returns to whoever resumed it.
class Fiber {
 public:
  Fiber(ContextPool& pool, std::function<void(Fiber&)> body)
      : pool_(pool), context_(pool.make(true, g_with_threads)), body_(std::move(body)) {
    weft::core::prepare(context_, run, this);
  }
  ~Fiber() {
    pool_.withdraw(context_);
    context_->next = nullptr;
    ContextPool::end(context_);
    pool_.reuse(context_);
  }

  void resume() {
    resumer_ = weft::core::current_context();
    weft::core::switch_to(context_);
  }
  void yield() { weft::core::switch_to(resumer_); }
  bool finished() const { return finished_; }
  const Context* context() const { return context_; }

 private:
  static Context* run(void* argument) {
    auto* self = static_cast<Fiber*>(argument);
    self->body_(*self);
    self->finished_ = true;
    return self->resumer_;
  }

  ContextPool& pool_;
  Context* context_;
  Context* resumer_ = nullptr;
  std::function<void(Fiber&)> body_;
  bool finished_ = false;
};

thread_local int t_number = 7;
thread_local std::string t_text = "fresh";

TEST_P(ContextTest, HasThreadLocalObjectsOfItsOwn) {
  ContextPool pool(kStackSize);
  t_number = 1;
  t_text = "root";
  Fiber fiber(pool, [](Fiber& self) {
    EXPECT_EQ(t_number, 7);
    EXPECT_EQ(t_text, "fresh");
    t_number = 2;
    t_text = "a text too long for the small-string optimisation of the library";
    self.yield();
    EXPECT_EQ(t_number, 2);
    EXPECT_EQ(t_text.size(), 64u);
  });
  fiber.resume();
  EXPECT_EQ(t_number, 1);
  EXPECT_EQ(t_text, "root");
  fiber.resume();
  EXPECT_TRUE(fiber.finished());
  EXPECT_EQ(t_number, 1);
}

TEST_P(ContextTest, HasErrnoOfItsOwn) {
  ContextPool pool(kStackSize);
  errno = ENOENT;
  Fiber fiber(pool, [](Fiber& self) {
    errno = EBUSY;
    self.yield();
    EXPECT_EQ(errno, EBUSY);
  });
  fiber.resume();
  EXPECT_EQ(errno, ENOENT);
  fiber.resume();
}

TEST_P(ContextTest, MaySwitchInsideACatchBlock) {
  ContextPool pool(kStackSize);
  auto body = [](const char* text) {
    return [text](Fiber& self) {
      try {
        throw std::runtime_error(text);
      } catch (const std::runtime_error& error) {
        self.yield();
        EXPECT_STREQ(error.what(), text);
        try {
          throw;
        } catch (const std::runtime_error& again) {
          EXPECT_STREQ(again.what(), text);
        }
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    };
  };
  Fiber first(pool, body("first"));
  Fiber second(pool, body("second"));
  first.resume();
  second.resume();
  first.resume();
  second.resume();
  EXPECT_TRUE(first.finished());
  EXPECT_TRUE(second.finished());
}

TEST_P(ContextTest, OwnsRecursiveMutexesByItself) {
  ContextPool pool(kStackSize);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  Fiber holder(pool, [&](Fiber& self) {
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    self.yield();
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  });
  holder.resume();
  EXPECT_EQ(pthread_mutex_trylock(&mutex), EBUSY);
  holder.resume();
  EXPECT_EQ(pthread_mutex_trylock(&mutex), 0);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_destroy(&attributes);
}

TEST_P(ContextTest, RunsOnItsDonorsStack) {
  ContextPool pool(kStackSize);
  Fiber fiber(pool, [](Fiber&) {
    void* low = nullptr;
    size_t size = 0;
    if (!weft::core::stack_without_thread(pthread_self(), low, size)) {
      pthread_attr_t attributes;
      ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
      pthread_attr_getstack(&attributes, &low, &size);
      pthread_attr_destroy(&attributes);
    }
    auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    EXPECT_GT(here, reinterpret_cast<uintptr_t>(low) + kStackSize / 4);
    EXPECT_LT(here, reinterpret_cast<uintptr_t>(low) + size);
  });
  fiber.resume();
}

TEST_P(ContextTest, KeepsItsIdentityOnAnotherOsThread) {
  ContextPool pool(kStackSize);
  pthread_t first{};
  Fiber fiber(pool, [&](Fiber& self) {
    first = pthread_self();
    t_number = 40;
    self.yield();
    EXPECT_TRUE(pthread_equal(first, pthread_self()));
    EXPECT_EQ(++t_number, 41);
  });
  fiber.resume();
  EXPECT_FALSE(pthread_equal(first, pthread_self()));
  std::thread([&] { fiber.resume(); }).join();
  EXPECT_TRUE(fiber.finished());
}

TEST_P(ContextTest, UsesARecordAgain) {
  ContextPool pool(kStackSize);
  const Context* record = nullptr;
  int runs = 0;
  for (int i = 0; i < 100; ++i) {
    Fiber fiber(pool, [&](Fiber&) { ++runs; });
    if (record == nullptr) record = fiber.context();
    EXPECT_EQ(fiber.context(), record);
    fiber.resume();
    EXPECT_EQ(pool.size(), 1u);
  }
  EXPECT_EQ(runs, 100);
  EXPECT_EQ(pool.size(), 0u);
  EXPECT_EQ(pool.withdrawn(), 100u);
}

// OS threads pass a set of suspended contexts around: every continuation must find its own state.
TEST_P(ContextTest, SurvivesBeingPassedAmongOsThreads) {
  constexpr int kFibers = 16;
  constexpr int kRounds = 2000;
  ContextPool pool(kStackSize);
  struct Slot {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    std::unique_ptr<Fiber> fiber;
  };
  std::vector<Slot> slots(kFibers);
  for (auto& slot : slots) {
    slot.fiber = std::make_unique<Fiber>(pool, [](Fiber& self) {
      t_number = 0;
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_EQ(t_number, round);
        errno = ++t_number;
        self.yield();
        ASSERT_EQ(errno, t_number);
      }
    });
  }
  std::atomic<int> unfinished{kFibers};
  auto drive = [&](unsigned seed) {
    while (unfinished.load() > 0) {
      seed = seed * 1664525u + 1013904223u;
      Slot& slot = slots[(seed >> 16) % kFibers];
      // Acquire and release: the flag hands the suspended context from one OS thread to the next.
      if (slot.busy.test_and_set(std::memory_order_acquire)) continue;
      if (!slot.fiber->finished()) {
        slot.fiber->resume();
        if (slot.fiber->finished()) --unfinished;
      }
      slot.busy.clear(std::memory_order_release);
    }
  };
  std::vector<std::thread> drivers;
  for (unsigned i = 0; i < 4; ++i) drivers.emplace_back(drive, i + 1);
  for (auto& driver : drivers) driver.join();
  for (auto& slot : slots) EXPECT_TRUE(slot.fiber->finished());
}

}  // namespace
