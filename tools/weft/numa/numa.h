// SPDX-License-Identifier: Apache-2.0
// `weft numa`: where the memory of a program lies, and who uses it.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

struct NumaOptions {
  std::vector<std::string> command;  // a program with its arguments, or the number of a process
  bool is_program = false;
  std::string json;     // a file, "-" for stdout; empty: none
  std::string picture;
  std::string touch = "sample";
  bool protect = false;
  std::string least_size = "1M";
};

// The exit code.
int show_numa(const NumaOptions& options);

}  // namespace weft::tools
