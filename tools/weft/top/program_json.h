// SPDX-License-Identifier: Apache-2.0
// The processes on weft for programs (docs/reference/commands.md).
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "top/weft_programs.h"

namespace weft::tools {

// Those that fit the filter.
nlohmann::ordered_json json_of_programs(const ProgramRows& rows, std::string_view filter);
// Those above them that are not on weft.
nlohmann::ordered_json json_of_ancestors(const ProgramRows& rows, std::string_view filter);

// The programs not on weft that used most.
nlohmann::ordered_json json_of_busiest(const ProgramRows& rows);

}  // namespace weft::tools
