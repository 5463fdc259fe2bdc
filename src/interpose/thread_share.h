// SPDX-License-Identifier: Apache-2.0
// How many jobs a call of a copy is split into, and how many carriers run them. The library reads the number of jobs
// from a variable. Rounding depends on that number. So where any number of carriers can run the jobs, the variable is
// what the program allows (the limit), and the share that the load of the process leaves says how many carriers run
// them. Elsewhere the variable is the smaller of limit and share. docs/explanation/process.md.
#pragma once

namespace weft::interpose {

struct Copy;

// To be called for a new copy: the value of its variable is the program's limit.
void begin_share(Copy* copy) noexcept;

// To be called for a call that needs more carriers than are idle: if other carriers are at work, later calls get fewer.
// `helpers`: how many carriers run jobs of calls now, beside their callers.
void lower_share(int helpers) noexcept;

// How many carriers may run the jobs of a call of the calling task, its caller's included.
int carriers_of_a_call(const Copy* copy) noexcept;

// Brings the copy's variable in line with its limit and the share.
void keep_to_share(Copy* copy) noexcept;

// The limit that the program has set for the process, whatever the share is.
int process_limit(Copy* copy) noexcept;
void set_process_limit(Copy* copy, int threads) noexcept;

// The two bracket a fork. The child begins without shares.
void before_fork() noexcept;
void after_fork(bool in_child) noexcept;

struct ShareCounts {
  unsigned long lowered, raised;
  int share;
};
ShareCounts share_counts() noexcept;

}  // namespace weft::interpose
