// SPDX-License-Identifier: Apache-2.0
// `weft node` and `weft top`: the processes that share the CPUs of this node.
#pragma once

#include <string>

namespace weft::tools {

// Writes to stdout who takes part and what they have, for people or as JSON; returns the exit code.
int node_status(bool json);

// Removes the segment; unless by force only if nobody uses it.
int node_reset(bool force);

struct TopOptions {
  bool once = false;
  bool json = false;        // only with once
  std::string openmetrics;  // where to, in place of showing anything; empty: nowhere
  double seconds = 0;       // between two looks; 0: the usual
};
int top(const TopOptions& options);

}  // namespace weft::tools
