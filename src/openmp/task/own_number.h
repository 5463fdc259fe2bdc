// SPDX-License-Identifier: Apache-2.0
// Tasks that have asked for their thread number may keep something by it: scratch memory, a copy of a reduction. Where
// tasks may be paused several contexts have the same number (stand_in.h). So each that has such tasks on its stack
// takes a lock, once the number is shared: what runs has the numbers that it counts on.
//
//  - A context that is away gives its numbers back, and takes them again when it comes back, before it goes on.
//  - Whoever looks again and again for what others do (omp_test_lock that fails, taskyield, weft_yield) may look for
//    what a task does that waits for the number: it lets those go first that wait.
//  - Who waits gets the number in the order in which they have come. So it is nobody's turn for good.
//  - While one waits for a number it has at most those of members further out on its stack. No stack waits for an outer
//    number with an inner one of its own, so nobody waits in a circle.
//
// Signal handlers may ask at any moment. They must not wait, nor look at what the code that they have interrupted is
// about to change: such a call does not count as asking.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// What the contexts of the member's number share. `member`: not of a free agent.
inline SharedNumber& shared_number(const Member* member) noexcept {
  return member->team->members.lines[member->number].shared;
}

// Whether one of the tasks on the member's stack, or one that waits for such a task to end, has asked.
bool counts_on_number(const Member* member) noexcept;

// The caller's task, which has asked for its number, has ended.
void release_number(Member* self) noexcept;

// By a context that goes away.
void give_number(Member* self) noexcept;

// By one that is back, for the members on its stack from `first` outwards that are: what their tasks have of their
// numbers is their own again.
void take_numbers_again(Member* first) noexcept;

// By one that looks for what others do. True: somebody has had a number of its meanwhile.
bool lend_numbers(Member* self) noexcept;

}  // namespace weft::openmp
