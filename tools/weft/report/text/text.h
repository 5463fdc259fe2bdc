// SPDX-License-Identifier: Apache-2.0
// The report for a terminal.
#pragma once

#include <string>

#include "report/model/model.h"

namespace weft::tools::report {

inline constexpr int kMostLines = 25;

// At most kMostLines lines of at most `width` columns; less than 72 are not heeded. `page` is the file with the whole
// report; empty: there is none.
std::string to_text(const Report& report, bool colour, int width, const std::string& page = "");

}  // namespace weft::tools::report
