// SPDX-License-Identifier: Apache-2.0
// `weft top`: the processes that run on weft, and those that share the CPUs of this node, again and again.
#pragma once

#include <string>

namespace weft::tools {

struct TopOptions {
  bool once = false;
  bool tree = false;
  std::string filter;       // of the processes on weft
  std::string json;         // a file for programs, once; "-": stdout, in place of the text; empty: none
  std::string openmetrics;  // where to, in place of showing anything; empty: nowhere
  double seconds = 0;       // between two looks; 0: the usual
};

// Returns the exit code.
int top(const TopOptions& options);

}  // namespace weft::tools
