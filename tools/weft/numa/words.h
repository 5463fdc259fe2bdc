// SPDX-License-Identifier: Apache-2.0
// What the report says of an array and of itself, beside its numbers.
#pragma once

#include <string>

#include "numa/report.h"

namespace weft::tools::numa {

std::string policy_text(const RecordedArray& array);
const char* how_text(weft::numa::How how);

// What is missing, and why.
void add_notes(const Kernel& kernel, const Evidence& evidence, Report& report);

}  // namespace weft::tools::numa
