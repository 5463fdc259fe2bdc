// SPDX-License-Identifier: Apache-2.0
// The deque of a member: the owner pushes and pops at one end, thieves take from the other, and each task comes out
// once.
#include "openmp/task/task_deque.h"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// In place of the runtime's: the deque looks into none.
struct weft::openmp::Task {
  int number = 0;  // plain: a thief sees it by the push alone
  std::atomic<int> taken{0};
};

namespace {

using weft::openmp::Task;
using weft::openmp::TaskDeque;

constexpr int64_t kNoFloor = INT64_MIN;
constexpr auto kSize = static_cast<size_t>(TaskDeque::kSize);
constexpr auto kAny = [](const Task*) { return true; };

class TaskDequeTest : public testing::Test {
 protected:
  TaskDequeTest() {
    for (size_t i = 0; i < tasks_.size(); ++i) tasks_[i].number = static_cast<int>(i);
  }
  Task* task(size_t number) { return &tasks_[number % tasks_.size()]; }

  TaskDeque deque_;

 private:
  std::array<Task, 2 * kSize> tasks_;
};

TEST_F(TaskDequeTest, EmptyGivesNothing) {
  EXPECT_TRUE(deque_.empty());
  EXPECT_FALSE(deque_.full());
  EXPECT_EQ(deque_.pop(kNoFloor), nullptr);
  EXPECT_EQ(deque_.steal(kAny), nullptr);
  EXPECT_EQ(deque_.size(), 0);
}

TEST_F(TaskDequeTest, OneTaskComesOutAtEitherEnd) {
  for (size_t round = 0; round < 3; ++round) {
    ASSERT_TRUE(deque_.push(task(round)));
    EXPECT_EQ(deque_.size(), 1);
    EXPECT_EQ(deque_.pop(kNoFloor), task(round));
    EXPECT_EQ(deque_.pop(kNoFloor), nullptr);
    EXPECT_EQ(deque_.steal(kAny), nullptr);
    ASSERT_TRUE(deque_.push(task(round + 10)));
    EXPECT_EQ(deque_.steal(kAny), task(round + 10));
    EXPECT_EQ(deque_.steal(kAny), nullptr);
    EXPECT_EQ(deque_.pop(kNoFloor), nullptr);
    EXPECT_TRUE(deque_.empty());
  }
}

TEST_F(TaskDequeTest, OwnerTakesTheYoungestAndThievesTheOldest) {
  for (size_t i = 0; i < 5; ++i) ASSERT_TRUE(deque_.push(task(i)));
  EXPECT_EQ(deque_.pop(kNoFloor), task(4));
  EXPECT_EQ(deque_.steal(kAny), task(0));
  EXPECT_EQ(deque_.pop(kNoFloor), task(3));
  EXPECT_EQ(deque_.steal(kAny), task(1));
  EXPECT_EQ(deque_.size(), 1);
  EXPECT_EQ(deque_.steal(kAny), task(2));
  EXPECT_TRUE(deque_.empty());
}

TEST_F(TaskDequeTest, FullRefusesUntilThereIsRoom) {
  for (size_t i = 0; i < kSize; ++i) {
    EXPECT_FALSE(deque_.full());
    ASSERT_TRUE(deque_.push(task(i)));
  }
  EXPECT_TRUE(deque_.full());
  EXPECT_FALSE(deque_.push(task(kSize)));
  // The refused one has overwritten nothing.
  EXPECT_EQ(deque_.steal(kAny), task(0));
  EXPECT_FALSE(deque_.full());
  ASSERT_TRUE(deque_.push(task(kSize)));
  EXPECT_FALSE(deque_.push(task(kSize + 1)));
  for (size_t i = kSize; i >= 1; --i) ASSERT_EQ(deque_.pop(kNoFloor), task(i));
  EXPECT_EQ(deque_.pop(kNoFloor), nullptr);
}

// A few in it all the time, three times around.
TEST_F(TaskDequeTest, OrderIsKeptAroundTheEnd) {
  constexpr size_t kInside = 3;
  for (size_t i = 0; i < kInside; ++i) ASSERT_TRUE(deque_.push(task(i)));
  for (size_t i = 0; i < 3 * kSize + 1; ++i) {
    ASSERT_TRUE(deque_.push(task(i + kInside)));
    ASSERT_EQ(deque_.steal(kAny), task(i));
  }
  EXPECT_EQ(deque_.size(), int64_t{kInside});
}

TEST_F(TaskDequeTest, FullAroundTheEnd) {
  for (size_t i = 0; i < kSize / 2; ++i) {
    ASSERT_TRUE(deque_.push(task(i)));
    ASSERT_EQ(deque_.steal(kAny), task(i));
  }
  for (size_t i = 0; i < kSize; ++i) ASSERT_TRUE(deque_.push(task(i)));
  EXPECT_FALSE(deque_.push(task(kSize)));
  for (size_t i = 0; i < kSize; ++i) ASSERT_EQ(deque_.steal(kAny), task(i));
  EXPECT_TRUE(deque_.empty());
}

TEST_F(TaskDequeTest, OwnerLeavesWhatLiesBelowTheFloor) {
  ASSERT_TRUE(deque_.push(task(0)));
  const int64_t floor = deque_.bottom();
  EXPECT_EQ(deque_.pop(floor), nullptr);
  ASSERT_TRUE(deque_.push(task(1)));
  EXPECT_EQ(deque_.pop(floor), task(1));
  EXPECT_EQ(deque_.pop(floor), nullptr);
  EXPECT_EQ(deque_.size(), 1);
  EXPECT_EQ(deque_.pop(floor - 1), task(0));
}

TEST_F(TaskDequeTest, ThievesLeaveWhatTheyDoNotWant) {
  ASSERT_TRUE(deque_.push(task(7)));
  ASSERT_TRUE(deque_.push(task(8)));
  EXPECT_EQ(deque_.steal([](const Task* task) { return task->number == 8; }), nullptr);
  EXPECT_EQ(deque_.size(), 2);
  EXPECT_EQ(deque_.steal([](const Task* task) { return task->number == 7; }), task(7));
}

// The task goes to another while a thief looks at it: the thief gets nothing.
TEST_F(TaskDequeTest, ThiefThatLooksTooLongGetsNothing) {
  ASSERT_TRUE(deque_.push(task(0)));
  EXPECT_EQ(deque_.steal([&](const Task*) { return deque_.pop(kNoFloor) == task(0); }), nullptr);
  ASSERT_TRUE(deque_.push(task(1)));
  EXPECT_EQ(deque_.steal([&](const Task*) { return deque_.steal(kAny) == task(1); }), nullptr);
  EXPECT_TRUE(deque_.empty());
  // The place of the task serves another one by then.
  ASSERT_TRUE(deque_.push(task(2)));
  EXPECT_EQ(deque_.steal([&](const Task*) {
    EXPECT_EQ(deque_.steal(kAny), task(2));
    for (size_t i = 0; i < kSize; ++i) EXPECT_TRUE(deque_.push(task(i)));
    return true;
  }),
            nullptr);
  EXPECT_EQ(deque_.size(), TaskDeque::kSize);
}

TEST_F(TaskDequeTest, ThievesTakeSeveralOfMany) {
  TaskDeque::Loot loot{};
  EXPECT_EQ(deque_.steal_several(loot, kAny), 0);
  constexpr auto kMany = static_cast<size_t>(TaskDeque::kMany);
  for (size_t i = 0; i < kMany; ++i) ASSERT_TRUE(deque_.push(task(i)));
  ASSERT_EQ(deque_.steal_several(loot, kAny), TaskDeque::kSeveral);
  for (size_t i = 0; i < loot.size(); ++i) EXPECT_EQ(loot[i], task(i));
  // These are not many.
  ASSERT_EQ(deque_.steal_several(loot, kAny), 1);
  EXPECT_EQ(loot[0], task(loot.size()));
  EXPECT_EQ(deque_.size(), TaskDeque::kMany - TaskDeque::kSeveral - 1);
  for (size_t i = kMany - 1; i > loot.size(); --i) EXPECT_EQ(deque_.pop(kNoFloor), task(i));
  EXPECT_TRUE(deque_.empty());
}

// The owner takes from below what a thief has seen above.
TEST_F(TaskDequeTest, ThiefThatHasSeenManyTakesNoneOfFew) {
  TaskDeque::Loot loot{};
  constexpr auto kMany = static_cast<size_t>(TaskDeque::kMany);
  for (const size_t left : {0u, 1u, 7u}) {
    for (size_t i = 0; i < kMany; ++i) ASSERT_TRUE(deque_.push(task(i)));
    const auto look = [&](const Task*) {
      for (size_t i = kMany; i > left; --i) EXPECT_EQ(deque_.pop(kNoFloor), task(i - 1));
      return true;
    };
    EXPECT_EQ(deque_.steal_several(loot, look), 0) << left;
    for (size_t i = left; i > 0; --i) EXPECT_EQ(deque_.pop(kNoFloor), task(i - 1));
    EXPECT_TRUE(deque_.empty());
  }
  // As many as it takes are still there.
  for (size_t i = 0; i < kMany; ++i) ASSERT_TRUE(deque_.push(task(i)));
  const auto look = [&](const Task*) {
    for (size_t i = kMany; i > loot.size(); --i) EXPECT_EQ(deque_.pop(kNoFloor), task(i - 1));
    return true;
  };
  EXPECT_EQ(deque_.steal_several(loot, look), TaskDeque::kSeveral);
  EXPECT_EQ(deque_.pop(kNoFloor), nullptr);
}

// Many become few and many again, with thieves and without: what has come out stays out, and nothing is lost.
TEST_F(TaskDequeTest, ManyBecomeFewAgainAndAgain) {
  TaskDeque::Loot loot{};
  for (size_t round = 0; round < 50; ++round) {
    const size_t count = TaskDeque::kMany + round % 9;
    for (size_t i = 0; i < count; ++i) ASSERT_TRUE(deque_.push(task(i)));
    const size_t stolen = round % 3 == 0 ? 0 : static_cast<size_t>(deque_.steal_several(loot, kAny));
    for (size_t i = count; i > stolen; --i) ASSERT_EQ(deque_.pop(kNoFloor), task(i - 1));
    ASSERT_EQ(deque_.pop(kNoFloor), nullptr);
    ASSERT_EQ(deque_.steal_several(loot, kAny), 0);
  }
}

// One owner, thieves, and tasks that say how often they have come out; again and again for a while.
class Race {
 public:
  explicit Race(bool several = false) : several_(several) {}

  // `own(deque, next)` is called until it has taken all tasks from `next()`, which is null after the last.
  template <class Own>
  void run(Own&& own) {
    constexpr auto kTime = std::chrono::milliseconds(600);
    const auto end = std::chrono::steady_clock::now() + kTime;
    do {
      run_once(own);
    } while (!testing::Test::HasFailure() && std::chrono::steady_clock::now() < end);
  }

  void take(Task* task) {
    if (task->number == 0) ++unwritten_;
    task->taken.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kTasks = 20'000;
  static constexpr int kThieves = 2;

  template <class Own>
  void run_once(Own&& own) {
    for (Task& task : tasks_) {
      task.number = 0;
      task.taken = 0;
    }
    next_ = 0;
    over_ = false;
    std::vector<std::thread> thieves;
    for (int t = 0; t < kThieves; ++t) thieves.emplace_back([this] { steal_until_over(); });
    while (there_.load() != kThieves) std::this_thread::yield();
    const auto next = [this] { return next_ < kTasks ? prepare(tasks_[next_++]) : nullptr; };
    while (next_ < kTasks) own(deque_, next);
    while (Task* task = deque_.pop(kNoFloor)) take(task);
    over_ = true;
    for (auto& thief : thieves) thief.join();
    there_ = 0;
    EXPECT_TRUE(deque_.empty());
    size_t lost = 0;
    size_t twice = 0;
    for (const Task& task : tasks_) {
      lost += task.taken.load() == 0 ? 1 : 0;
      twice += task.taken.load() > 1 ? 1 : 0;
    }
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(twice, 0u);
    EXPECT_EQ(unwritten_.load(), 0);
  }

  Task* prepare(Task& task) const {
    task.number = static_cast<int>(next_);
    return &task;
  }

  void steal_until_over() {
    ++there_;
    while (!over_.load(std::memory_order_relaxed)) {
      if (several_) {
        TaskDeque::Loot loot{};
        const int count = deque_.steal_several(loot, kAny);
        for (int i = 0; i < count; ++i) take(loot[static_cast<size_t>(i)]);
      } else if (Task* task = deque_.steal(kAny)) {
        take(task);
      }
    }
  }

  const bool several_;
  TaskDeque deque_;
  std::vector<Task> tasks_ = std::vector<Task>(kTasks);
  size_t next_ = 0;
  std::atomic<int> there_{0};
  std::atomic<bool> over_{false};
  std::atomic<int> unwritten_{0};
};

// The owner and the thieves are after one and the same task, nearly always.
TEST(TaskDequeRaceTest, TheLastTaskComesOutOnce) {
  Race race;
  race.run([&](TaskDeque& deque, auto& next) {
    EXPECT_TRUE(deque.push(next()));
    if (Task* task = deque.pop(kNoFloor)) race.take(task);
  });
}

// The owner may think that there are more than one while thieves take all but one.
TEST(TaskDequeRaceTest, EachOfAFewComesOutOnce) {
  Race race;
  size_t rounds = 0;
  race.run([&](TaskDeque& deque, auto& next) {
    const size_t count = 2 + rounds++ % 3;
    for (size_t i = 0; i < count; ++i) {
      Task* task = next();
      if (task != nullptr && !deque.push(task)) race.take(task);
    }
    for (size_t i = 0; i < count; ++i) {
      if (Task* task = deque.pop(kNoFloor)) race.take(task);
    }
  });
}

// Pushes that are refused while thieves make room, around the end many times.
TEST(TaskDequeRaceTest, AFullOneLosesNone) {
  Race race;
  race.run([&](TaskDeque& deque, auto& next) {
    while (Task* task = next()) {
      if (deque.push(task)) continue;
      race.take(task);
      for (int i = 0; i < 3; ++i) {
        if (Task* popped = deque.pop(kNoFloor)) race.take(popped);
      }
    }
  });
}

// Thieves that have seen many come when few are left: the owner has taken from below what they want to take from above.
TEST(TaskDequeRaceTest, ManyThatBecomeFewComeOutOnce) {
  Race race(true);
  race.run([&](TaskDeque& deque, auto& next) {
    int pushed = 0;
    while (pushed < TaskDeque::kMany + TaskDeque::kSeveral) {
      Task* task = next();
      if (task == nullptr) break;
      if (!deque.push(task)) {
        race.take(task);
        break;
      }
      ++pushed;
    }
    while (Task* task = deque.pop(kNoFloor)) race.take(task);
  });
}

// The owner stays above a floor. What lies below is for thieves.
TEST(TaskDequeRaceTest, TheFloorHoldsWhileThievesTake) {
  Race race;
  race.run([&](TaskDeque& deque, auto& next) {
    const int64_t floor = deque.bottom() + 1;
    Task* below = next();
    if (!deque.push(below)) {
      race.take(below);
      return;
    }
    if (Task* above = next()) {
      if (!deque.push(above)) race.take(above);
    }
    while (Task* task = deque.pop(floor)) {
      EXPECT_NE(task, below);
      race.take(task);
    }
  });
}

}  // namespace
