// SPDX-License-Identifier: Apache-2.0
// How a carrier waits whose thread comes late to its CPU, since others use that.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "core/sched/blocking.h"
#include "core/sched/carrier.h"
#include "core/sched/scheduler.h"
#include "core/sched/spinning.h"
#include "core/sched/start.h"
#include "platform/cycles.h"

namespace {

using namespace weft::core;

TEST(LateCarrierTest, SleepsAtOnceWhereItIsBound) {
  constexpr long kHour = 3'600'000'000'000;
  start({.slots = 2, .stack_size = 256 * 1024});
  // A carrier that is not late waits awake for as long. Another test may have started the pool, with a time of its own.
  const long spin_before = spin_ns();
  set_spin_ns(kHour);
  Context* self = attach();
  Carrier* carrier = self->carrier;
  carrier->place = 0;
  // Its thread counts as late for the whole test, however long a busy machine takes for that.
  carrier->lateness.note(weft::platform::now_ns() + kHour);
  const uint64_t parks = carrier->statistics.parks.get();
  bool has_slept = false;
  std::thread waker([&] {
    // Some seconds are for a carrier that is kept from its CPU before it can sleep.
    for (int i = 0; i < 20'000 && !has_slept; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      has_slept = carrier->statistics.parks.get() > parks;
    }
    unblock(self);
  });
  block();
  waker.join();
  carrier->place = -1;
  carrier->lateness.note(weft::platform::now_ns() - kHour);
  set_spin_ns(spin_before);
  EXPECT_TRUE(has_slept);
}

}  // namespace
