// SPDX-License-Identifier: Apache-2.0
// The program that is looked at, as a child.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace weft::tools {

struct Ending {
  int exit_code = 0;  // of this command: the program's; 128 and the signal's number
  int signal = 0;     // that has ended it; 0: none
  int process = 0;    // its number
  double seconds = 0;      // that it took
  double cpu_seconds = 0;  // that it used, its own children included
  bool was_ended = false;  // this command has asked it to end
};

// Starts `path` with the arguments and environment as they are, calls `look` ever more seldom while it runs, but no
// more seldom than `longest` if it takes no time, and waits for its end. Warnings are those of weft's command `by`.
// Signals that would end this command go to the program, but for those that a terminal has sent to both; the second
// SIGTERM, or two SIGINT together, kill it.
Ending run_child(const std::string& by, const std::string& path, const std::vector<std::string>& command,
                 const std::function<void()>& look, std::chrono::milliseconds longest = std::chrono::seconds(5));

}  // namespace weft::tools
