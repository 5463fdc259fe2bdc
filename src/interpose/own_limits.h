// SPDX-License-Identifier: Apache-2.0
// How many threads the program lets the calls of a copy have: what the calling thread has set for itself, else what
// holds for the process. docs/explanation/process.md, What the program sets.
//
// What the initial thread sets outside of parallel regions holds for the process. What others set is an internal
// control variable of their task: it holds for that, and for the regions that it opens.
#pragma once

namespace weft::interpose {

struct Copy;

// The limit of the calling task.
int limit(Copy* copy) noexcept;

// Sets it. A limit that is larger than that of the process becomes that of the process: a call is split into no more
// jobs than the library's one variable says. The thread that has set it sets the process's from then on, until it puts
// it back. Copies whose calls cannot be run by fewer threads than they have jobs have one limit for all threads.
void set_limit(Copy* copy, int threads) noexcept;

// What limits the carriers that run the jobs of the calling task's calls; INT_MAX: nothing but the number of jobs.
int own_limit(const Copy* copy) noexcept;

}  // namespace weft::interpose
