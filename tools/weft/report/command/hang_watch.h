// SPDX-License-Identifier: Apache-2.0
// Sees that a program hangs while it does: when it is over nobody can tell any more.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace weft::tools::report {

// Lines that name a deadlock of the process, which is on weft; empty: none is seen, or it cannot be asked.
std::vector<std::string> deadlock_of(int process);

// Of the program that runs as a child of this process, or below one.
class HangWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // Now and then. A process on weft that has used no CPU for a while is asked what its threads wait for. A deadlock is
  // said at once.
  void look();
  // Asks whatever the process uses, and says nothing.
  void look_now();

  // Of the deadlock that the program was in at last; empty: none was seen.
  const std::vector<std::string>& deadlock() const { return deadlock_; }

 private:
  void ask();

  Clock::time_point seen_;
  Clock::time_point idle_since_;
  Clock::duration patience_{};  // that it may be idle for until it is asked
  int process_ = 0;
  double used_ = 0;  // CPU seconds when it was seen
  std::vector<std::string> deadlock_;
};

}  // namespace weft::tools::report
