// SPDX-License-Identifier: Apache-2.0
// A thread that asks for short time slices keeps all else: how it is scheduled, its priority, errno.
#include "platform/time_slice.h"

#include <cerrno>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <thread>

namespace {

TEST(TimeSliceTest, AllElseStays) {
  std::thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 5), 0) << "of this thread";
    errno = EDOM;
    weft::platform::ask_for_short_time_slices();
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 5);
  }).join();
}

// Others than normal threads have no such slices, and a call that set some would make them normal.
TEST(TimeSliceTest, LeavesBatchThreadsAlone) {
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    weft::platform::ask_for_short_time_slices();
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  }).join();
}

}  // namespace
