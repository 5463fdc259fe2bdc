// SPDX-License-Identifier: Apache-2.0
// `weft node`: the processes that share the CPUs of this node, and the file by which they do.
#pragma once

#include <string>

namespace weft::tools {

// Says who takes part and what they have, for people on stdout and for programs in the file `json` ("-": stdout, in
// place of the text; empty: none); returns the exit code.
int node_status(const std::string& json);

// Removes the segment; unless by force only if nobody uses it.
int node_reset(bool force);

}  // namespace weft::tools
