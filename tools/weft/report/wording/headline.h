// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/model/model.h"

namespace weft::tools::report {

// "3.88 s on weft, 1.44 of 2 CPUs used; other processes used 0.96 of them.": what `weft run --stats` begins with.
std::string headline_of(const Report& report);

}  // namespace weft::tools::report
