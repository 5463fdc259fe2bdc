// SPDX-License-Identifier: Apache-2.0
// Contexts and OS threads of the program sleep on words: none is forgotten, and only those go on that are meant.
#include "core/sched/parking.h"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../await.h"
#include "core/sched/blocking.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"

namespace {

using namespace weft::core;

using Word = std::atomic<uint32_t>;

// A context that parks on a word while that is 0, once. `began` is set when it has been seen on its way there.
struct Sleeper {
  const Word* word = nullptr;
  std::atomic<int>* order = nullptr;
  Context* context = nullptr;
  std::atomic<bool> began{false};
  std::atomic<int> woken{0};  // as the how-manieth of all, from 1

  static void main(void* argument) {
    auto* self = static_cast<Sleeper*>(argument);
    self->began = true;
    park(*self->word, 0);
    self->woken = 1 + self->order->fetch_add(1);
  }
};

class ParkingTest : public testing::Test {
 protected:
  void SetUp() override {
    start({.slots = 2, .stack_size = 256 * 1024, .spin_ns = 20'000});
    self_ = attach();
    enter_region(self_, 2);
  }
  void TearDown() override {
    // Their records are the test's.
    for (const auto& sleeper : sleepers_) EXPECT_TRUE(await([&] { return sleeper->woken.load() != 0; }));
    leave_region(self_);
  }

  // It is asleep when it has left its carrier: a context that can be held has.
  static bool is_blocked(Context* context) {
    if (!hold(context)) return false;
    let_go(context);
    return true;
  }

  // One after the other, so that the order in which they have come is known.
  Sleeper* send_to_sleep(const Word& word) {
    Sleeper* sleeper = sleepers_.emplace_back(std::make_unique<Sleeper>()).get();
    sleeper->word = &word;
    sleeper->order = &order_;
    sleeper->context = make_context(Sleeper::main, sleeper, 1);
    EXPECT_NE(sleeper->context, nullptr);
    launch(sleeper->context);
    // Where its carrier has nothing else to do it waits in place.
    EXPECT_TRUE(await([&] {
      return sleeper->began.load() &&
             (is_blocked(sleeper->context) || sleeper->context->token.load() == Token::resting);
    }));
    return sleeper;
  }

  std::atomic<int> order_{0};

 private:
  std::vector<std::unique_ptr<Sleeper>> sleepers_;
  Context* self_ = nullptr;
};

TEST_F(ParkingTest, AChangedWordDoesNotWait) {
  const Word word{1};
  park(word, 0);
  park(word, 2);
}

TEST_F(ParkingTest, NobodyToWake) {
  const Word word{0};
  unpark(word, 1);
  unpark(word, INT32_MAX);
  unpark(word, 0);
}

// A wake before the wait is not remembered: the word says that it has come.
TEST_F(ParkingTest, AnEarlierWakeIsNotRemembered) {
  Word word{0};
  unpark(word, 1);
  const Sleeper* sleeper = send_to_sleep(word);
  EXPECT_EQ(sleeper->woken.load(), 0);
  word = 1;
  unpark(word, 1);
  EXPECT_TRUE(await([&] { return sleeper->woken.load() == 1; }));
}

TEST_F(ParkingTest, AsManyAsAskedForOldestFirst) {
  Word word{0};
  std::array<const Sleeper*, 5> sleepers{};
  for (const Sleeper*& sleeper : sleepers) sleeper = send_to_sleep(word);
  unpark(word, 0);
  for (size_t i = 0; i < 2; ++i) {
    unpark(word, 1);
    EXPECT_TRUE(await([&] { return sleepers[i]->woken.load() == static_cast<int>(i) + 1; }));
    EXPECT_EQ(order_.load(), static_cast<int>(i) + 1);
  }
  unpark(word, 2);
  EXPECT_TRUE(await([&] { return sleepers[2]->woken.load() != 0 && sleepers[3]->woken.load() != 0; }));
  EXPECT_EQ(sleepers[4]->woken.load(), 0);
  unpark(word, 100);
  EXPECT_TRUE(await([&] { return sleepers[4]->woken.load() == 5; }));
}

// More than are taken from a list at once, and exactly as many.
TEST_F(ParkingTest, MoreThanAreTakenAtOnce) {
  for (const int count : {15, 16, 17, 32, 33}) {
    Word word{0};
    order_ = 0;
    for (int i = 0; i < count; ++i) send_to_sleep(word);
    unpark(word, count - 1);
    EXPECT_TRUE(await([&] { return order_.load() == count - 1; })) << count;
    unpark(word, INT32_MAX);
    EXPECT_TRUE(await([&] { return order_.load() == count; })) << count;
  }
}

// The first, the last, and one in the middle of a list goes first.
TEST_F(ParkingTest, WordsThatShareAList) {
  constexpr size_t kSleeping = 60;
  const auto list_of = [](const Word* word) {
    return ((reinterpret_cast<uintptr_t>(word) >> 2) * 0x9E3779B97F4A7C15u) >> 56;
  };
  static std::array<Word, 10'000> words;
  std::vector<Word*> chosen;
  for (Word& word : words) {
    if (chosen.size() < kSleeping && list_of(&word) == list_of(&words[0])) chosen.push_back(&word);
  }
  ASSERT_GE(chosen.size(), 10u);
  for (const size_t first : {size_t{0}, chosen.size() - 1, chosen.size() / 2}) {
    std::vector<const Sleeper*> sleepers;
    for (Word* word : chosen) {
      word->store(0);
      sleepers.push_back(send_to_sleep(*word));
    }
    order_ = 0;
    for (size_t i = 0; i < chosen.size(); ++i) {
      const size_t at = (first + i) % chosen.size();
      chosen[at]->store(1);
      unpark(*chosen[at], 1);
      ASSERT_TRUE(await([&] { return sleepers[at]->woken.load() != 0; }));
      ASSERT_EQ(order_.load(), static_cast<int>(i) + 1) << "somebody else has gone on";
    }
  }
}

// Somebody unblocks the context for another reason: its record stands in the list, on its stack, until it is taken out.
TEST_F(ParkingTest, AStrayUnblockWakesNobody) {
  Word word{0};
  Sleeper* sleeper = send_to_sleep(word);
  for (int i = 0; i < 20; ++i) {
    unblock(sleeper->context);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sleeper->woken.load(), 0);
  word = 1;
  unpark(word, 1);
  EXPECT_TRUE(await([&] { return sleeper->woken.load() == 1; }));
}

// Those that wait briefly, each with what it has been told.
struct BriefSleeper {
  const Word* word = nullptr;
  std::atomic<int> told{-1};

  static void main(void* argument) {
    auto* self = static_cast<BriefSleeper*>(argument);
    self->told = park_briefly(*self->word, 0) ? 1 : 0;
  }
  bool go(const Word& at) {
    word = &at;
    told = -1;
    Context* context = make_context(main, this, 1);
    if (context != nullptr) launch(context);
    return context != nullptr;
  }
};

TEST_F(ParkingTest, AChangedWordDoesNotWaitBriefly) {
  const Word word{1};
  EXPECT_TRUE(park_briefly(word, 0));
}

// One after the other, behind one that waits for good; also when the looks have ended meanwhile.
TEST_F(ParkingTest, AWordThatStandsStillTellsAllThatWaitBriefly) {
  std::array<BriefSleeper, 20> sleepers;
  for (int round = 0; round < 3; ++round) {
    Word word{0};
    const Sleeper* for_good = send_to_sleep(word);
    const int woken = order_.load();
    for (BriefSleeper& sleeper : sleepers) ASSERT_TRUE(sleeper.go(word));
    for (BriefSleeper& sleeper : sleepers) EXPECT_TRUE(await([&] { return sleeper.told.load() == 0; }));
    EXPECT_EQ(order_.load(), woken) << "the one that waits for good has gone on";
    word = 1;
    unpark(word, 1);
    EXPECT_TRUE(await([&] { return for_good->woken.load() != 0; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// A lock as the C library builds it on futexes: 0 free, 1 held, 2 held and perhaps waited for.
class ParkingLock {
 public:
  void lock() {
    uint32_t seen = 0;
    if (word_.compare_exchange_strong(seen, 1)) return;
    bool briefly = true;
    while (word_.exchange(2) != 0) {
      if (briefly) {
        briefly = park_briefly(word_, 2);
      } else {
        park(word_, 2);
      }
    }
  }
  void unlock() {
    if (word_.exchange(0) == 2) unpark(word_, 1);
  }

 private:
  Word word_{0};
};

struct Counted {
  ParkingLock lock;
  long value = 0;  // guarded by the lock
  std::atomic<int> ended{0};
};

constexpr int kLocks = 3;
constexpr int kRounds = 10'000;
std::array<Counted, kLocks> g_counted;
std::atomic<int> g_ended{0};
std::array<std::atomic<Context*>, 64> g_contexts;

void lock_and_count(void*) {
  static std::atomic<size_t> number{0};
  g_contexts[number++ % g_contexts.size()] = current_context();
  for (int i = 0; i < kRounds; ++i) {
    Counted& counted = g_counted[static_cast<size_t>(i % kLocks)];
    counted.lock.lock();
    ++counted.value;
    // Now and then it is held for so long that others fall asleep.
    if (i % 32 == 0) yield();
    counted.lock.unlock();
  }
  ++g_ended;
}

// Contexts, roots, and somebody who unblocks all contexts all the time.
TEST_F(ParkingTest, NobodyIsForgottenAtALock) {
  constexpr int kContexts = 6;
  constexpr int kRoots = 3;
  std::atomic<bool> over{false};
  std::thread stray([&] {
    while (!over.load()) {
      for (auto& context : g_contexts) {
        if (Context* at = context.load()) unblock(at);
      }
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < kContexts; ++i) {
    Context* context = make_context(lock_and_count, nullptr, 1 + i % 2);
    ASSERT_NE(context, nullptr);
    launch(context);
  }
  std::vector<std::thread> roots;
  for (int i = 0; i < kRoots; ++i) {
    roots.emplace_back([] {
      Context* self = attach();
      enter_region(self, 1);
      lock_and_count(nullptr);
      leave_region(self);
      detach();
    });
  }
  for (std::thread& root : roots) root.join();
  EXPECT_TRUE(await([&] { return g_ended.load() == kContexts + kRoots; }));
  over = true;
  stray.join();
  long sum = 0;
  for (const Counted& counted : g_counted) sum += counted.value;
  EXPECT_EQ(sum, long{kContexts + kRoots} * kRounds);
}

// Two that take turns for a while: each wake meets somebody who is about to sleep.
struct Turns {
  Word whose{0};
  std::atomic<bool> over{false};
  std::atomic<int> ended{0};

  void play(uint32_t mine) {
    constexpr int kTurnsPerLook = 64;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
    for (int turns = 1; !over.load(); ++turns) {
      while (whose.load() != mine) park(whose, 1 - mine);
      if (mine == 0 && turns % kTurnsPerLook == 0 && std::chrono::steady_clock::now() > end) over = true;
      whose = 1 - mine;
      unpark(whose, 1);
    }
    ++ended;
  }
};

TEST_F(ParkingTest, EachWakeMeetsWhoIsAboutToSleep) {
  static Turns turns;
  Context* other = make_context([](void*) { turns.play(1); }, nullptr, 1);
  ASSERT_NE(other, nullptr);
  launch(other);
  turns.play(0);
  EXPECT_TRUE(await([&] { return turns.ended.load() == 2; }));
}

TEST_F(ParkingTest, EachWakeOfARootMeetsWhoIsAboutToSleep) {
  static Turns turns;
  std::thread other([] {
    attach();
    turns.play(1);
    detach();
  });
  turns.play(0);
  other.join();
  EXPECT_EQ(turns.ended.load(), 2);
}

}  // namespace
