// SPDX-License-Identifier: Apache-2.0
// The report for programs, and back: docs/explanation/report.md describes the members.
#pragma once

#include <string>

#include "report/model/model.h"

namespace weft::tools::report {

inline constexpr char kFormat[] = "weft report 1";

// Each site, thread and CPU on a line of its own.
std::string to_json(const Report& report);

// Throws std::runtime_error with a text for the user where this is no report, or a damaged one.
Report report_from_json(const std::string& text);

}  // namespace weft::tools::report
