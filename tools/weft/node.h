// SPDX-License-Identifier: Apache-2.0
// `weft node` and `weft top`: the processes that share the CPUs of this node.
#pragma once

namespace weft::tools {

// Writes to stdout who takes part and what they have, for people or as JSON; returns the exit code.
int node_status(bool json);

// Removes the segment; unless by force only if nobody uses it.
int node_reset(bool force);

struct TopOptions {
  bool once = false;
  bool json = false;     // only with once
  double seconds = 1.0;  // between two looks
};
int top(const TopOptions& options);

}  // namespace weft::tools
