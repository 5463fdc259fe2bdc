// SPDX-License-Identifier: Apache-2.0
// Hands out the time of a trace as the recorder of `weft report` does it with snapshots: one at each change.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "observe/account/construct_tree.h"
#include "observe/account/ledger.h"
#include "observe/account/timeline.h"
#include "report/trace/contexts.h"
#include "report/trace/trace_file.h"

namespace weft::tools::report {

// By number of a place: whether it is within the runtime, as where a function's last call opens a region.
using InRuntime = std::vector<bool>;

// The profile that the recorder would have left of the run (src/observe/record/profile/writer.cpp).
nlohmann::json profile_of(const Trace& trace, const Contexts& contexts, const InRuntime& in_runtime);

}  // namespace weft::tools::report
