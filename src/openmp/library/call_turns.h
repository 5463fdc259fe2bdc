// SPDX-License-Identifier: Apache-2.0
// Calls of libraries that take turns (Way::turns): one at a time has the right, on all CPUs, and those that wait for
// theirs are the members of the one whose turn it is.
//
// A member that waits either polls, at most one for each CPU but the holder's, or sleeps. The right becomes free in
// many ways: its region ends, it grows stale, it is given back by a thread that takes no turns; and a trial of turns
// may have to be broken off. None of these wakes anybody: all are for those that poll to see. What holds instead:
//   while somebody sleeps, somebody polls, or has been woken and is about to.
// So a thread that stops polling, whatever the reason, wakes one that sleeps.
#pragma once

#include <cstdint>

#include "core/api/records.h"

namespace weft::openmp {

// Waits for the right, which begins the caller's turn; false when `give_up_ns` has passed: a trial of turns that goes
// badly.
bool begin_turn(int64_t give_up_ns) noexcept;

// Whether the caller's call has waited for its turn.
bool has_turn() noexcept;

// `region` is what the turn is for. Waits a moment until members that wait have joined it, and others have had time to
// become idle. Returns how many carriers are idle at the end.
int gather_members(core::ParallelCall* region) noexcept;

void end_turn() noexcept;

// While the region runs, the turn is the region's, as its right is (openmp/library/call_right.h).
bool hand_over_turn() noexcept;
void take_back_turn(bool turn) noexcept;

}  // namespace weft::openmp
