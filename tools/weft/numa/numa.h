// SPDX-License-Identifier: Apache-2.0
// `weft numa`: where the memory of a program lies, and who uses it.
#pragma once

#include <string>
#include <vector>

#include "run.h"

namespace weft::tools {

struct NumaOptions {
  std::vector<std::string> command;  // a program with its arguments, or the number of a process
  bool is_program = false;
  bool on_weft = false;  // an option of `weft run` was given
  // The file for people; "-" is stdout, empty none. %p in it stands for the number of this process, %r for its rank.
  std::string output;
  std::string json;     // likewise, for programs
  std::string picture;
  std::string touch = "sample";
  bool protect = false;
  std::string least_size = "1M";
};

// `run`: how a program is started on weft. Returns the exit code.
int show_numa(NumaOptions options, const RunOptions& run);

}  // namespace weft::tools
