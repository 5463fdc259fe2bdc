// SPDX-License-Identifier: Apache-2.0
// Identities whose OS threads have ended: as many as there is memory for, each whole, and each ends as threads do.
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "../await.h"
#include "core/context/context_pool.h"
#include "core/context/donor.h"
#include "platform/system_call.h"
#include "platform/thread_pointer.h"

namespace {

using weft::core::Context;
using weft::core::ContextPool;
using weft::core::Donor;

constexpr size_t kStackSize = 64 * 1024;

int threads() {
  DIR* folder = opendir("/proc/self/task");
  int count = 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(folder);
  return count;
}

std::atomic<int> g_ended{0};
pthread_t g_self_at_end{};

struct Ends {
  bool used = false;
  ~Ends() {
    if (!used) return;
    g_self_at_end = pthread_self();
    ++g_ended;
  }
};
thread_local Ends t_ends;

Context* g_caller = nullptr;

// Uses its thread-local object, and goes back.
Context* use(void*) {
  t_ends.used = true;
  return g_caller;
}

void use_identity(Context* context) {
  g_caller = weft::core::current_context();
  weft::core::prepare(context, use, nullptr);
  weft::core::switch_to(context);
}

void end(ContextPool& pool, const std::vector<Context*>& contexts) {
  Context* chain = nullptr;
  for (Context* context : contexts) {
    pool.withdraw(context);
    context->next = chain;
    chain = context;
  }
  pool.reuse(ContextPool::end(chain).ended);
}

class AbsentDonorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!weft::core::donors_may_leave()) GTEST_SKIP() << "a sanitizer follows threads";
  }
};

TEST_F(AbsentDonorTest, ManyNeedNoThreads) {
  ContextPool pool(kStackSize);
  const int before = threads();
  std::vector<Context*> contexts;
  constexpr int kMany = 500;
  for (int i = 0; i < kMany; ++i) contexts.push_back(pool.make(true, 3));
  EXPECT_TRUE(await([&] { return threads() == before + 3; })) << threads();
  EXPECT_EQ(pool.threads(), 3u);
  g_ended = 0;
  for (Context* context : contexts) use_identity(context);
  EXPECT_EQ(threads(), before + 3);
  end(pool, contexts);
  EXPECT_EQ(g_ended.load(), kMany) << "destructors run, one of each";
  // The kernel may show a thread for a moment that has been joined.
  EXPECT_TRUE(await([&] { return threads() == before; })) << threads();
  EXPECT_EQ(pool.size(), 0u);
}

TEST_F(AbsentDonorTest, EndsUnderItsOwnIdentity) {
  ContextPool pool(kStackSize);
  Context* context = pool.make(true, 0);
  const pthread_t thread = static_cast<Donor*>(context)->thread;
  use_identity(context);
  end(pool, {context});
  EXPECT_TRUE(pthread_equal(g_self_at_end, thread));
}

// No thread of the machine has the number, which libc gives out as the owner of mutexes.
TEST_F(AbsentDonorTest, ItsNumberIsNobodys) {
  ContextPool pool(kStackSize);
  Context* one = pool.make(true, 0);
  Context* other = pool.make(true, 0);
  EXPECT_NE(one->thread_id, other->thread_id);
  constexpr pid_t kHighest = 1 << 22;
  EXPECT_GT(one->thread_id, kHighest);
  EXPECT_EQ(*static_cast<Donor*>(one)->number_in_record, static_cast<uint32_t>(one->thread_id));
  end(pool, {one, other});
}

TEST_F(AbsentDonorTest, RunsApartUnderAnotherIdentity) {
  ContextPool pool(kStackSize);
  auto* other = static_cast<Donor*>(pool.make(true, 0));
  struct Seen {
    uintptr_t identity = 0;
    long number = 0;
  } seen;
  const auto look = [](void* argument) {
    auto* to = static_cast<Seen*>(argument);
    to->identity = weft::platform::thread_pointer();
    to->number = weft::platform::system_call(SYS_gettid);
  };
  for (int i = 0; i < 1000; ++i) {
    seen = {};
    ASSERT_TRUE(weft::core::run_apart(other->thread_pointer, look, &seen));
    ASSERT_EQ(seen.identity, other->thread_pointer);
    ASSERT_NE(seen.number, gettid());
  }
  end(pool, {other});
}

// Calls and ends from all sides: each finds a thread there, or brings one back.
TEST_F(AbsentDonorTest, IsBroughtBackOnceAtATime) {
  ContextPool pool(kStackSize);
  constexpr int kRounds = 300;
  constexpr int kCallers = 3;
  for (int round = 0; round < kRounds; ++round) {
    std::array<Donor*, 4> donors{};
    std::vector<Context*> contexts;
    for (Donor*& donor : donors) contexts.push_back(donor = static_cast<Donor*>(pool.make(true, 0)));
    std::vector<std::thread> callers;
    callers.reserve(kCallers);
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        for (Donor* donor : donors) {
          // It finds that nobody has sent the context a signal.
          donor->take_call(donor);
          donor->bring_back();
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    end(pool, contexts);
  }
  EXPECT_EQ(pool.size(), 0u);
}

}  // namespace
