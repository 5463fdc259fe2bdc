// SPDX-License-Identifier: Apache-2.0
// Admission: who may be in a region at the same time, in which order the others follow, and that the last one that
// leaves forgets nobody.
#include "core/sched/admission.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../await.h"
#include "core/sched/blocking.h"
#include "core/sched/pool.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "platform/thread_state.h"

namespace {

using namespace weft::core;
using weft::platform::ThreadState;

// A root that goes into one region and stays there until it is told to leave. Inside it computes: where all sleep, the
// next one is let in.
class Root {
 public:
  explicit Root(int calls, bool computes = true) : computes_(computes), thread_([this, calls] { live(calls); }) {
    EXPECT_TRUE(await([this] { return is_inside() || waits(); }));
  }
  ~Root() { thread_.join(); }

  bool is_inside() const { return inside_.load(); }
  // What it comes to sleep on while it goes in is its turn, and nothing else.
  bool waits() const {
    return goes_in_.load() && !inside_.load() && weft::platform::thread_state(id_.load()) == ThreadState::sleeping &&
           !inside_.load();
  }
  void tell_to_leave() { leaves_ = true; }
  void leave() {
    tell_to_leave();
    EXPECT_TRUE(await([this] { return !inside_.load(); }));
  }
  bool holds_slot() const { return carrier_.load()->holds_slot.load(); }

 private:
  void live(int calls) {
    Context* self = attach();
    id_ = static_cast<pid_t>(syscall(SYS_gettid));
    carrier_ = self->home;
    // It has computed before, and counts as running.
    enter_region(self, 1);
    leave_region(self);
    goes_in_ = true;
    enter_region(self, calls);
    inside_ = true;
    while (!leaves_.load()) {
      if (!computes_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    // Before others may be seen inside.
    inside_ = false;
    leave_region(self);
    detach();
  }

  const bool computes_;
  std::atomic<bool> goes_in_{false};
  std::atomic<bool> inside_{false};
  std::atomic<bool> leaves_{false};
  std::atomic<pid_t> id_{0};
  std::atomic<Carrier*> carrier_{nullptr};
  std::thread thread_;
};

class AdmissionTest : public testing::Test {
 protected:
  void SetUp() override { start({.slots = 4, .stack_size = 256 * 1024, .spin_ns = 0}); }
  void TearDown() override {
    // Who waits comes in when the others have left.
    for (const auto& root : roots_) root->tell_to_leave();
    roots_.clear();
    EXPECT_TRUE(await([] { return !admissions_pending(); }));
    set_admission(Admission::all);
  }

  Root* root(int calls, bool computes = true) {
    return roots_.emplace_back(std::make_unique<Root>(calls, computes)).get();
  }

 private:
  std::vector<std::unique_ptr<Root>> roots_;
};

TEST_F(AdmissionTest, NobodyWaitsWhereAllMayEnter) {
  set_admission(Admission::all);
  Root* first = root(100);
  Root* second = root(100);
  EXPECT_TRUE(first->is_inside());
  EXPECT_TRUE(second->is_inside());
  EXPECT_FALSE(admissions_pending());
}

TEST_F(AdmissionTest, OneAtATimeInTheOrderTheyCame) {
  set_admission(Admission::one);
  EXPECT_FALSE(admissions_pending());
  std::vector<Root*> roots;
  for (int i = 0; i < 4; ++i) roots.push_back(root(2 + i));
  EXPECT_TRUE(admissions_pending());
  for (size_t i = 0; i < roots.size(); ++i) {
    EXPECT_TRUE(await([&] { return roots[i]->is_inside(); }));
    for (size_t k = i + 1; k < roots.size(); ++k) EXPECT_TRUE(roots[k]->waits()) << i << " " << k;
    // To look again lets nobody in.
    retry_admissions();
    roots[i]->leave();
  }
}

TEST_F(AdmissionTest, WhoWaitsHoldsNoSlot) {
  set_admission(Admission::one);
  Root* first = root(2);
  EXPECT_TRUE(first->holds_slot());
  Root* second = root(2);
  EXPECT_FALSE(second->holds_slot());
  first->leave();
  EXPECT_TRUE(await([&] { return second->is_inside(); }));
  EXPECT_TRUE(second->holds_slot());
}

TEST_F(AdmissionTest, RegionsOfOneCallAndInnerOnesDoNotWait) {
  set_admission(Admission::one);
  Root* inside = root(2);
  Root* alone = root(1);
  EXPECT_TRUE(alone->is_inside());
  alone->leave();
  EXPECT_FALSE(inside->waits());
  inside->leave();
  EXPECT_TRUE(await([] { return !admissions_pending(); }));
  Context* self = attach();
  enter_region(self, 2);
  enter_region(self, 2);
  leave_region(self);
  EXPECT_TRUE(admissions_pending()) << "the outer one is still inside";
  leave_region(self);
  EXPECT_FALSE(admissions_pending());
}

TEST_F(AdmissionTest, AsManyAsFit) {
  set_admission(Admission::fitting);
  const int all = slots();
  ASSERT_GE(all, 2);
  Root* first = root(all - 1);
  Root* second = root(2);
  EXPECT_TRUE(first->is_inside());
  EXPECT_TRUE(second->waits()) << "one call more than there are slots";
  first->leave();
  EXPECT_TRUE(await([&] { return second->is_inside(); }));
  if (all >= 4) {
    Root* third = root(all - 2);
    EXPECT_TRUE(await([&] { return third->is_inside(); })) << "exactly as many as there are slots";
  }
}

TEST_F(AdmissionTest, LargerThanTheMachineEntersAlone) {
  set_admission(Admission::fitting);
  Root* large = root(10 * slots());
  EXPECT_TRUE(large->is_inside());
  Root* next = root(2);
  EXPECT_TRUE(next->waits());
  Root* larger = root(20 * slots());
  large->leave();
  EXPECT_TRUE(await([&] { return next->is_inside(); }));
  EXPECT_TRUE(larger->waits());
  next->leave();
  EXPECT_TRUE(await([&] { return larger->is_inside(); }));
}

// A small one that would fit does not overtake a large one; when that has left, all that fit enter at once.
TEST_F(AdmissionTest, NobodyOvertakes) {
  set_admission(Admission::fitting);
  if (slots() < 4) GTEST_SKIP() << "the pool starts once a process";
  Root* first = root(2);
  Root* large = root(slots());
  Root* small = root(2);
  Root* other = root(slots() - 2);
  EXPECT_TRUE(large->waits());
  EXPECT_TRUE(small->waits());
  first->leave();
  EXPECT_TRUE(await([&] { return large->is_inside(); }));
  EXPECT_TRUE(small->waits());
  EXPECT_TRUE(other->waits());
  large->leave();
  EXPECT_TRUE(await([&] { return small->is_inside() && other->is_inside(); }));
}

// Who is inside may wait for the very region that waits: where all are asleep, the first one enters anyway.
TEST_F(AdmissionTest, TheNextEntersWhereAllSleep) {
  set_admission(Admission::one);
  Root* sleeper = root(2, false);
  Root* next = root(2, false);
  Root* last = root(2, false);
  EXPECT_TRUE(await([&] { return next->is_inside(); }));
  EXPECT_TRUE(sleeper->is_inside());
  next->leave();
  sleeper->leave();
  EXPECT_TRUE(await([&] { return last->is_inside(); }));
  last->leave();
  EXPECT_TRUE(await([] { return !admissions_pending(); }));
  // All has been counted back.
  Root* first = root(2);
  EXPECT_TRUE(first->is_inside());
  Root* second = root(2);
  EXPECT_TRUE(second->waits());
}

// As in the child of a fork, which leaves the region that its parent has entered.
TEST_F(AdmissionTest, ForgottenItLetsTheNextIn) {
  set_admission(Admission::one);
  Context* self = attach();
  enter_region(self, 2);
  EXPECT_TRUE(admissions_pending());
  forget_admissions();
  EXPECT_FALSE(admissions_pending());
  leave_region(self);
  EXPECT_FALSE(admissions_pending());
  Root* first = root(2);
  EXPECT_TRUE(first->is_inside());
  Root* second = root(2);
  EXPECT_TRUE(second->waits());
}

// Roots come and go, while somebody looks all the time whether there is one to be let in.
class AdmissionRaceTest : public AdmissionTest {
 protected:
  static constexpr int kRoots = 4;
  static constexpr int kRounds = 1000;

  // `inside(calls)` is called between the two.
  template <class Inside>
  static void come_and_go(Inside&& inside) {
    std::atomic<int> ended{0};
    std::vector<std::thread> roots;
    for (int t = 0; t < kRoots; ++t) {
      roots.emplace_back([&, t] {
        Context* self = attach();
        for (int round = 0; round < kRounds; ++round) {
          const int calls = 2 + (round + t) % (slots() - 1);
          enter_region(self, calls);
          inside(calls);
          leave_region(self);
          if ((round + t) % 3 == 0) std::this_thread::yield();
        }
        detach();
        ++ended;
      });
    }
    while (ended.load() < kRoots) {
      retry_admissions();
      std::this_thread::yield();
    }
    for (std::thread& root : roots) root.join();
    EXPECT_FALSE(admissions_pending());
  }
};

TEST_F(AdmissionRaceTest, OnlyOneIsInside) {
  set_admission(Admission::one);
  long plain = 0;  // by whoever is inside
  std::atomic<int> there{0};  // relaxed: the plain one is ordered by the admission alone
  std::atomic<int> met{0};
  come_and_go([&](int) {
    if (there.fetch_add(1, std::memory_order_relaxed) != 0) ++met;
    ++plain;
    there.fetch_sub(1, std::memory_order_relaxed);
  });
  EXPECT_EQ(met.load(), 0);
  EXPECT_EQ(plain, long{kRoots} * kRounds);
}

TEST_F(AdmissionRaceTest, NoMoreThanFitAreInside) {
  set_admission(Admission::fitting);
  std::atomic<int> there{0};
  std::atomic<int> too_many{0};
  come_and_go([&](int calls) {
    if (there.fetch_add(calls) + calls > slots()) ++too_many;
    there.fetch_sub(calls);
  });
  EXPECT_EQ(too_many.load(), 0);
}

}  // namespace
