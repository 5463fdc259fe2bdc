// SPDX-License-Identifier: Apache-2.0
// What has been traced so far, as a file, now and then while the program runs: a process that is killed runs no
// finalizer.
#pragma once

namespace weft::observe::trace {

// A thread of its own calls `write` after half a second, and then each time that twice as much has passed, but for a
// fiftieth of its time at most. Where the system refuses the thread there is none.
void start_writing_so_far(void (*write)() noexcept) noexcept;

// At the end: none is being written when this returns. False: the thread does not come to its end.
bool stop_writing_so_far() noexcept;

}  // namespace weft::observe::trace
