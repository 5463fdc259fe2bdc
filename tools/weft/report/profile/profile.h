// SPDX-License-Identifier: Apache-2.0
// What the recorder has left of a process (src/observe/record/profile/writer.cpp), as a report without advice.
#pragma once

#include <filesystem>

#include <nlohmann/json.hpp>

#include "report/model/model.h"

namespace weft::tools::report {

// They throw std::runtime_error with a text for the user. `folder` takes a file that is needed meanwhile.
Report read_profile(const std::filesystem::path& file, const std::filesystem::path& folder);
Report report_of_profile(const nlohmann::json& profile, const std::filesystem::path& folder);

}  // namespace weft::tools::report
