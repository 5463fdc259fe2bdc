// SPDX-License-Identifier: Apache-2.0
// A trace as a report without advice. It knows each event, so that nothing is drawn at random.
#pragma once

#include <filesystem>

#include "report/model/model.h"

namespace weft::tools::report {

// Throws std::runtime_error with a text for the user. `folder` takes a file that is needed meanwhile.
Report report_of_trace(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace weft::tools::report
