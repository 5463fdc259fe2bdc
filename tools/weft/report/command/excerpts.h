// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/model/model.h"

namespace weft::tools::report {

// Gives the places that matter most some lines of their sources. Left out: those whose file is not there, is newer than
// the program that was made of it, or is no text.
void add_excerpts(Report& report);

}  // namespace weft::tools::report
