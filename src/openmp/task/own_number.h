// SPDX-License-Identifier: Apache-2.0
// Thread numbers as locks. A task that has asked for its thread number may keep something by it: scratch memory, a copy
// of a reduction. Where tasks may be paused, several contexts have the same number (stand_in.h). So, once a number is
// shared, a context that has such tasks on its stack holds the number like a lock while it runs.
//
//  - A context that is away gives its numbers back. When it comes back it takes them again before it goes on.
//  - A task may look again and again for what others do (omp_test_lock that fails, taskyield, weft_yield). What it
//    looks for may be done by a task that waits for the number. So it lets the contexts that wait go first.
//  - Contexts get a number in the order in which they have come.
//  - A context that waits for a number holds at most numbers of members further out on its stack. No context waits
//    for an outer number while it holds an inner one, so no contexts wait in a circle.
//
// A signal handler may ask for the number at any moment. It must not wait, nor look at what the code that it has
// interrupted is about to change: such a call does not count as asking.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// What the contexts of the member's number share. `member`: not of a free agent.
inline SharedNumber& shared_number(const Member* member) noexcept {
  return member->team->members.lines[member->number].shared;
}

// Whether one of the tasks on the member's stack has asked for its number, or a task that waits for one of these to
// end.
bool counts_on_number(const Member* member) noexcept;

// Called when the caller's task, which has asked for its number, has ended.
void release_number(Member* self) noexcept;

// Called by a context that goes away: another one may hold the number from now on.
void give_number(Member* self) noexcept;

// Called by a context that has come back: waits until it holds again the numbers that tasks on its stack count on, of
// the members from `first` outwards that are not away.
void take_numbers_again(Member* first) noexcept;

// Called by a task that looks again and again for what others do: lets contexts that wait for its numbers go first.
// Returns whether one has held a number meanwhile.
bool lend_numbers(Member* self) noexcept;

}  // namespace weft::openmp
