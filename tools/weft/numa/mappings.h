// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "numa/report.h"

namespace weft::tools::numa {

// What the process has mapped, by kind, the largest first.
std::vector<MappingRow> mappings_of(const Evidence& evidence);

}  // namespace weft::tools::numa
