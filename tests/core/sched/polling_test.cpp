// SPDX-License-Identifier: Apache-2.0
// Polling services: none is forgotten while it has something to look for, and none runs when it is not to.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/sched/blocking.h"
#include "core/sched/polling.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "platform/cycles.h"

namespace {

using namespace weft::core;
namespace platform = weft::platform;
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

// What others see of what a service waits for. `let_go` is how often it is to let something go on.
struct Waits {
  std::atomic<int> left{0};
  std::atomic<int> let_go{0};
  std::atomic<int> calls{0};

  static int service(void* data) {
    auto* waits = static_cast<Waits*>(data);
    if (waits->let_go.load() > 0) {
      note_arrival();
      --waits->let_go;
    }
    ++waits->calls;
    return waits->left.load();
  }
  void await_polls() {
    const int before = calls.load();
    await([&] { return calls.load() > before + 2; });
  }
};

class PendingTest : public testing::Test {
 protected:
  void SetUp() override {
    set_up();
    ASSERT_EQ(register_polling_service(Waits::service, &waits, PollingAnswer::left), 0);
  }
  void TearDown() override {
    unregister_polling_service(Waits::service, &waits);
    EXPECT_EQ(pending_arrivals().count, 0);
  }

  void wait_for(int left) {
    waits.left = left;
    poll_soon();
    await([&] { return pending_arrivals().count == left; });
  }
  // A moment before which the silence has begun, so long before that the next two differ.
  static int64_t await_silence() {
    await([] { return pending_arrivals().silent_ns > 50'000'000; });
    return platform::now_ns();
  }
  // However late a thread gets its CPU, each is true when it should be.
  static bool began_anew_since(int64_t time) {
    const int64_t silent_ns = pending_arrivals().silent_ns;
    return silent_ns <= platform::now_ns() - time;
  }
  static bool goes_on_since_before(int64_t time) {
    const int64_t now = platform::now_ns();
    return pending_arrivals().silent_ns > now - time;
  }

  Waits waits;
};

TEST_F(PendingTest, IsTheSumOfTheAnswers) {
  wait_for(3);
  Waits others;
  others.left = 4;
  ASSERT_EQ(register_polling_service(Waits::service, &others, PollingAnswer::left), 0);
  poll_soon();
  await([] { return pending_arrivals().count == 7; });
  waits.left = 5;
  await([] { return pending_arrivals().count == 9; });
  EXPECT_EQ(unregister_polling_service(Waits::service, &others), 0);
  EXPECT_EQ(pending_arrivals().count, 5);
  wait_for(0);
  EXPECT_EQ(pending_arrivals().silent_ns, 0);
}

TEST_F(PendingTest, ClocksAndAnswersOfAnotherKindAreNotCounted) {
  Waits clock;
  clock.left = 5;
  ASSERT_EQ(register_polling_service(Waits::service, &clock, PollingAnswer::more), 0);
  wait_for(2);
  clock.await_polls();
  EXPECT_EQ(pending_arrivals().count, 2);
  const int64_t quiet = await_silence();
  clock.let_go = 1;
  await([&] { return clock.let_go.load() == 0; });
  waits.await_polls();
  EXPECT_TRUE(goes_on_since_before(quiet));
  EXPECT_EQ(unregister_polling_service(Waits::service, &clock), 0);
}

TEST_F(PendingTest, IsSilentWhileItIsTheSame) {
  wait_for(1);
  const int64_t quiet = await_silence();
  waits.await_polls();
  EXPECT_TRUE(goes_on_since_before(quiet));
  // Others that begin to wait change nothing, nor does what comes without a service.
  wait_for(2);
  note_arrival();
  waits.await_polls();
  EXPECT_TRUE(goes_on_since_before(quiet));
}

TEST_F(PendingTest, TheSilenceBeginsWithTheFirstThatWaits) {
  wait_for(1);
  await_silence();
  wait_for(0);
  await([] { return !polls(); });
  const int64_t before = platform::now_ns();
  std::this_thread::sleep_for(milliseconds(5));
  wait_for(1);
  EXPECT_TRUE(began_anew_since(before));
}

TEST_F(PendingTest, TheSilenceEndsWhenFewerWait) {
  wait_for(2);
  const int64_t quiet = await_silence();
  wait_for(1);
  EXPECT_TRUE(began_anew_since(quiet));
}

TEST_F(PendingTest, TheSilenceEndsWhenOneGoesOnAndAnotherComes) {
  wait_for(1);
  const int64_t quiet = await_silence();
  waits.let_go = 1;
  await([&] { return waits.let_go.load() == 0; });
  waits.await_polls();
  EXPECT_TRUE(began_anew_since(quiet));
  EXPECT_EQ(pending_arrivals().count, 1);
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
