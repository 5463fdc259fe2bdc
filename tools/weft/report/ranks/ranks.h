// SPDX-License-Identifier: Apache-2.0
// One report of what the ranks of a job have left.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/model/model.h"
#include "report/ranks/rank_folder.h"

namespace weft::tools {

// Without advice; none: no rank has left a report. `notes` takes what is to be known of ranks that are not in it.
std::optional<report::Report> report_of_ranks(const RankParts& parts, std::vector<std::string>* notes);

}  // namespace weft::tools
