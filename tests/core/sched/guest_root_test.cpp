// SPDX-License-Identifier: Apache-2.0
// A root that a worker has taken up, since the root's own OS thread did not come for it.
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/api/thread.h"
#include "core/sched/carrier.h"
#include "core/sched/free_contexts.h"
#include "core/sched/pool.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "core/sched/switching.h"
#include "core/sched/waking.h"

namespace {

using namespace weft::core;

void sleep_long(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }

// Leaves the caller's carrier to what sleeps, until a worker has taken up the caller.
bool become_guest(Context* self) {
  Carrier* home = self->home;
  std::atomic<bool> over{false};
  // As the monitor does where a root's thread does not come.
  std::thread monitor([&] {
    while (!over) {
      home->abandoned = true;
      if (pool().worker_count > 0) call_to_work(pool().worker(0));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  constexpr int kTries = 50;
  for (int i = 0; i < kTries && self->carrier == home; ++i) {
    Context* sleeper = take_free(home, 0);
    if (sleeper == nullptr) break;
    sleeper->start = sleep_long;
    switch_counted(self, sleeper, Departure::yield);
  }
  over = true;
  monitor.join();
  home->abandoned = false;
  return self->carrier != home;
}

TEST(GuestRootTest, EndsWithItsOwnThread) {
  start({.slots = 2, .stack_size = 256 * 1024});
  want_workers(2);
  bool was_guest = false;
  pid_t began_on = 0;
  pid_t ended_on = 0;
  std::thread root([&] {
    began_on = gettid();
    was_guest = become_guest(attach());
    detach();
    ended_on = gettid();
  });
  root.join();
  EXPECT_TRUE(was_guest);
  EXPECT_EQ(ended_on, began_on);
}

}  // namespace
