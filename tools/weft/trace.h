// SPDX-License-Identifier: Apache-2.0
// `weft trace`: the program as a child, so that somebody is there to say what became of its trace.
#pragma once

#include "run.h"

namespace weft::tools {

// The exit code.
int make_trace(const RunOptions& options);

}  // namespace weft::tools
