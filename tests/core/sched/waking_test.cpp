// SPDX-License-Identifier: Apache-2.0
// Who wakes whom: each piece of work that appears wakes a carrier of its own, and one that is woken for something else
// passes the call on.
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "core/sched/blocking.h"
#include "core/sched/pool.h"
#include "core/sched/scheduler.h"
#include "core/sched/spinning.h"
#include "core/sched/start.h"
#include "core/sched/upcalls.h"
#include "core/sched/waking.h"

namespace {

using namespace weft::core;
using std::chrono::milliseconds;

constexpr int kSlots = 8;

// Workers are made when work comes; here all of them are there to be woken.
void set_up() {
  start({.slots = kSlots, .stack_size = 256 * 1024, .spin_ns = 0});
  grow_workers(kSlots - 1);
}

template <class Done>
void await(Done&& done) {
  while (!done()) std::this_thread::sleep_for(milliseconds(1));
}

void await_rest() {
  await([] {
    for (int i = 0; i < kSlots - 1; ++i) {
      if (pool().worker(i)->wake.load() != Wake::sleeping) return false;
    }
    return true;
  });
}

struct Meeting {
  std::atomic<int> there{0};
  std::atomic<bool> over{false};
};

// Keeps its OS thread, as members in system calls do.
void meet(void* argument) {
  auto* meeting = static_cast<Meeting*>(argument);
  ++meeting->there;
  while (!meeting->over.load()) std::this_thread::sleep_for(milliseconds(1));
  --meeting->there;
}

// All belong to one carrier, whose thread hardly comes to run before the next one is made ready.
TEST(WakingTest, ContextsOfOneCarrierCallACarrierEach) {
  set_up();
  Context* self = attach();
  enter_region(self, kSlots);
  for (int round = 0; round < 5; ++round) {
    await_rest();
    Meeting meeting;
    std::array<Context*, kSlots - 1> contexts{};
    for (Context*& context : contexts) {
      context = make_context(meet, &meeting, 1);
      ASSERT_NE(context, nullptr);
    }
    for (Context* context : contexts) launch(context);
    // Whoever has come to run keeps its thread; whoever has not has been called. Threads that the monitor has lent
    // are as good as others.
    const int workers = pool().worker_count.load();
    int called = 0;
    for (int i = 0; i < workers; ++i) called += pool().is_idle(pool().worker(i)) ? 0 : 1;
    EXPECT_GE(called, kSlots - 1);
    await([&] { return meeting.there.load() == kSlots - 1; });
    meeting.over = true;
    await([&] { return meeting.there.load() == 0; });
  }
  leave_region(self);
}

TEST(WakingTest, OneContextWakesOneCarrier) {
  set_up();
  Context* self = attach();
  enter_region(self, kSlots);
  constexpr int kRounds = 10;
  uint64_t risen = 0;
  for (int round = 0; round < kRounds; ++round) {
    await_rest();
    const auto parks = totals().parks;
    Meeting meeting;
    Context* context = make_context(meet, &meeting, 1 + round % (kSlots - 1));
    ASSERT_NE(context, nullptr);
    launch(context);
    await([&] { return meeting.there.load() == 1; });
    meeting.over = true;
    await([&] { return meeting.there.load() == 0; });
    await_rest();
    risen += totals().parks - parks;
  }
  // The one that was woken lies down again. Where that has taken long, the monitor may have woken a second one.
  EXPECT_GE(risen, uint64_t{kRounds});
  EXPECT_LE(risen, uint64_t{2 * kRounds});
  leave_region(self);
}

// A worker is called while it may work, and may not any more when it comes.
TEST(WakingTest, WhoMayNotComeCallsAnother) {
  set_up();
  attach();
  Carrier* last = pool().worker(kSlots - 2);
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> begun{false};
    Context* context =
        make_context([](void* argument) { static_cast<std::atomic<bool>*>(argument)->store(true); }, &begun, 1);
    ASSERT_NE(context, nullptr);
    await_rest();
    // The monitor would see that nobody comes. It rests while nobody has a region.
    std::this_thread::sleep_for(milliseconds(50));
    pool().active_roots.fetch_add(2);
    ASSERT_FALSE(pool().allowed(last));
    ASSERT_TRUE(take_to_launch(context));
    context->next = nullptr;
    context->carrier->ready.push(context, context, 1);
    call_to_work(last);
    for (int waited = 0; waited < 10'000 && !begun.load(); ++waited) std::this_thread::sleep_for(milliseconds(1));
    EXPECT_TRUE(begun.load());
    pool().active_roots.fetch_sub(2);
    wake_for_work(pool().worker(0));
    await([&] { return begun.load(); });
  }
}

// A carrier is called while its context waits in place, and what that waits for comes: it goes on, and never again
// looks for work while the other context has not begun.
struct GoesOn {
  std::atomic<bool> waits{false};
  std::atomic<bool> called{false};
  std::atomic<bool> begun{false};
  std::atomic<bool> begun_meanwhile{false};
  std::atomic<bool> ended{false};

  void wait_and_go_on() {
    const Context* self = current_context();
    begin_waiting(self);
    waits = true;
    while (!called.load()) std::this_thread::yield();
    end_waiting(self, false);
    block_unless([] { return true; });
    for (int waited = 0; waited < 10'000 && !begun.load(); ++waited) std::this_thread::sleep_for(milliseconds(1));
    begun_meanwhile = begun.load();
    ended = true;
  }
};

TEST(WakingTest, WhoGoesOnCallsAnother) {
  set_up();
  attach();
  GoesOn course;
  await_rest();
  // The monitor rests too.
  std::this_thread::sleep_for(milliseconds(50));
  Context* waiter = make_context([](void* course) { static_cast<GoesOn*>(course)->wait_and_go_on(); }, &course, 1);
  Context* other = make_context([](void* course) { static_cast<GoesOn*>(course)->begun = true; }, &course, 2);
  ASSERT_NE(waiter, nullptr);
  ASSERT_NE(other, nullptr);
  launch(waiter);
  await([&] { return course.waits.load(); });
  ASSERT_TRUE(take_to_launch(other));
  other->next = nullptr;
  other->carrier->ready.push(other, other, 1);
  waiter->carrier->poked = true;
  course.called = true;
  await([&] { return course.ended.load(); });
  EXPECT_TRUE(course.begun_meanwhile.load());
  await([&] { return course.begun.load(); });
}

}  // namespace
