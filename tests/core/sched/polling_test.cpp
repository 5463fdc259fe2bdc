// SPDX-License-Identifier: Apache-2.0
// Polling services: none is forgotten while it has something to look for, and none runs when it is not to.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/sched/polling.h"
#include "core/sched/scheduler.h"

namespace {

using namespace weft::core;
using std::chrono::milliseconds;

void set_up() { start({.slots = 4, .stack_size = 256 * 1024, .spin_ns = 0}); }

template <class Done>
void await(Done&& done) {
  while (!done()) std::this_thread::sleep_for(milliseconds(1));
}

struct Counted {
  std::atomic<int> calls{0};
  std::atomic<int> left{0};
  static int service(void* data) {
    auto* counted = static_cast<Counted*>(data);
    ++counted->calls;
    return counted->left.load();
  }
};

TEST(PollingTest, AServiceIsCalledWhileItHasSomethingToLookFor) {
  set_up();
  Counted counted;
  ASSERT_EQ(register_polling_service(Counted::service, &counted, PollingAnswer::left), 0);
  // All carriers sleep: the monitor calls it.
  counted.left = 1;
  poll_soon();
  await([&] { return counted.calls.load() > 5; });
  counted.left = 0;
  await([] { return !polls(); });
  const int calls = counted.calls.load();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(counted.calls.load(), calls);
  poll_soon();
  await([&] { return counted.calls.load() > calls; });
  EXPECT_EQ(unregister_polling_service(Counted::service, &counted), 0);
  EXPECT_EQ(unregister_polling_service(Counted::service, &counted), EINVAL);
}

int done_at_third_call(void* data) { return ++*static_cast<std::atomic<int>*>(data) == 3 ? 1 : 0; }

TEST(PollingTest, AServiceThatIsDoneIsUnregistered) {
  set_up();
  std::atomic<int> calls{0};
  ASSERT_EQ(register_polling_service(done_at_third_call, &calls, PollingAnswer::done), 0);
  await([&] { return calls.load() == 3; });
  await([] { return !polls(); });
  poll_soon();
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(calls.load(), 3);
  EXPECT_EQ(unregister_polling_service(done_at_third_call, &calls), EINVAL);
}

int register_inside(void* data) {
  *static_cast<std::atomic<int>*>(data) = register_polling_service(Counted::service, nullptr, PollingAnswer::left);
  return 1;
}

TEST(PollingTest, MisuseIsRefused) {
  set_up();
  EXPECT_EQ(register_polling_service(nullptr, nullptr, PollingAnswer::left), EINVAL);
  std::atomic<int> inside{0};
  ASSERT_EQ(register_polling_service(register_inside, &inside, PollingAnswer::done), 0);
  await([&] { return inside.load() != 0; });
  EXPECT_EQ(inside.load(), EDEADLK);
  std::vector<Counted> many(100);
  size_t registered = 0;
  while (register_polling_service(Counted::service, &many[registered], PollingAnswer::left) == 0) ++registered;
  EXPECT_EQ(registered, 16);
  EXPECT_EQ(register_polling_service(Counted::service, &many[registered], PollingAnswer::left), EAGAIN);
  for (size_t i = 0; i < registered; ++i) EXPECT_EQ(unregister_polling_service(Counted::service, &many[i]), 0);
}

// Contexts that wait for an answer of the service's, again and again, some of them while all carriers sleep.
struct Questions {
  static constexpr int kContexts = 12;
  static constexpr int kRounds = 2000;
  struct Asker {
    std::atomic<Context*> context{nullptr};
    std::atomic<bool> asks{false};
  };
  std::array<Asker, kContexts> askers;
  std::atomic<int> asked{0};
  std::atomic<int> next{0};
  std::atomic<int> ended{0};

  static int answer(void* data) {
    auto* questions = static_cast<Questions*>(data);
    for (Asker& asker : questions->askers) {
      if (!asker.asks.exchange(false)) continue;
      --questions->asked;
      unblock(asker.context.load());
    }
    return questions->asked.load();
  }

  static void ask(void* data) {
    auto* questions = static_cast<Questions*>(data);
    Asker& mine = questions->askers[static_cast<size_t>(questions->next++)];
    mine.context = attach();
    for (int i = 0; i < kRounds; ++i) {
      ++questions->asked;
      mine.asks = true;
      poll_soon();
      while (mine.asks.load()) block();
    }
    ++questions->ended;
  }
};

TEST(PollingTest, NoQuestionIsLost) {
  set_up();
  Questions questions;
  ASSERT_EQ(register_polling_service(Questions::answer, &questions, PollingAnswer::left), 0);
  enter_region(attach(), 4);
  for (int i = 0; i < Questions::kContexts; ++i) launch(make_context(Questions::ask, &questions, i));
  await([&] { return questions.ended.load() == Questions::kContexts; });
  leave_region(attach());
  EXPECT_EQ(unregister_polling_service(Questions::answer, &questions), 0);
}

struct Life {
  std::atomic<bool> alive{false};
  std::atomic<int> calls_after_death{0};
  static int service(void* data) {
    auto* life = static_cast<Life*>(data);
    for (int i = 0; i < 100; ++i) {
      if (!life->alive.load()) ++life->calls_after_death;
    }
    return 1;
  }
};

TEST(PollingTest, AServiceThatIsUnregisteredDoesNotRun) {
  set_up();
  Life life;
  std::atomic<bool> over{false};
  std::thread poller([&] {
    while (!over.load()) poll();
  });
  for (int i = 0; i < 2000; ++i) {
    life.alive = true;
    ASSERT_EQ(register_polling_service(Life::service, &life, PollingAnswer::left), 0);
    poll_soon();
    ASSERT_EQ(unregister_polling_service(Life::service, &life), 0);
    life.alive = false;
  }
  over = true;
  poller.join();
  EXPECT_EQ(life.calls_after_death.load(), 0);
}

}  // namespace
