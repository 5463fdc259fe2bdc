// SPDX-License-Identifier: Apache-2.0
// Sees that a program hangs while it does: when it is over nobody can tell any more.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weft::tools::report {

// Lines that name a deadlock of the process, which is on weft; empty: none is seen. None: it cannot be asked.
std::optional<std::vector<std::string>> deadlock_of(int process);

struct Hang {
  std::vector<std::string> deadlock;  // its lines; empty: none was seen
  double seconds = 0;                 // for which the program has used no CPU by now
};

// Of the program that runs as a child of this process, or below one. Where several on weft do, of none. A process that
// has used no CPU for a while is asked what its threads wait for, again and again; a deadlock is said at once. A thread
// does so, since an answer takes its time.
class HangWatch {
 public:
  ~HangWatch();

  // Once the program is there. Called again and again it does nothing.
  void begin();
  // No more is said.
  void end();

  // What is known now.
  Hang known();
  // Asks whatever the process uses, and says nothing.
  void ask_now();

 private:
  using Clock = std::chrono::steady_clock;

  void watch();
  void look();
  void ask();

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  Hang hang_;  // under the mutex

  // Of the thread.
  Clock::time_point seen_;
  Clock::time_point idle_since_;
  Clock::time_point next_ask_;
  Clock::duration patience_{};  // between two questions
  int process_ = 0;
  double used_ = 0;  // CPU seconds of the program's own threads when they were seen
};

}  // namespace weft::tools::report
