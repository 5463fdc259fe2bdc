// SPDX-License-Identifier: Apache-2.0
// How many jobs a call of a copy is split into, and how many carriers run them. The library reads the former from a
// variable. Rounding depends on it, so it is what the program allows (the limit) where any number of carriers can run
// the jobs; the share that the load of the process leaves says how many do. Elsewhere the variable is kept at the
// smaller of the two. docs/explanation/process.md.
#pragma once

namespace weft::interpose {

struct Copy;

// For a new copy: what its variable says is the program's limit.
void begin_share(Copy* copy) noexcept;

// A call that is about to run needs more carriers than there are idle ones: if others are at work, later calls get
// less. `helpers`: carriers that run jobs of calls now, beside their callers.
void lower_share(int helpers) noexcept;

// How many carriers may run the jobs of a call, its caller's with them.
int carriers_of_a_call() noexcept;

// Brings the copy's variable in line with its limit and the share.
void keep_to_share(Copy* copy) noexcept;

// What the program has set, whatever share is in force.
int limit(Copy* copy) noexcept;
void set_limit(Copy* copy, int threads) noexcept;

// Around a fork. The child begins without shares.
void before_fork() noexcept;
void after_fork(bool in_child) noexcept;

struct ShareCounts {
  unsigned long lowered, raised;
  int share;
};
ShareCounts share_counts() noexcept;

}  // namespace weft::interpose
