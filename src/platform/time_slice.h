// SPDX-License-Identifier: Apache-2.0
// How soon the kernel wakes a thread, and lets it run while all CPUs are busy.
#pragma once

namespace weft::platform {

// For a thread that seldom runs, and then for microseconds: the calling thread asks for the shortest time slices there
// are, so that it need not wait for the end of those of threads that compute. Takes effect from Linux 6.12 on
// (sched_setattr(2), sched_runtime of threads that are not real-time); before, and where it is refused, nothing
// happens.
void ask_for_short_time_slices() noexcept;

// For a thread that sleeps for less than a millisecond: the kernel wakes the calling thread when its time has come, and
// not up to 50 us later, with others (timer slack, prctl(2)).
void ask_for_exact_timers() noexcept;

}  // namespace weft::platform
