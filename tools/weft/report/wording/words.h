// SPDX-License-Identifier: Apache-2.0
// Words for people; those of the JSON are model.h's.
#pragma once

#include <string>

#include "report/model/model.h"

namespace weft::tools::report {

std::string plain_word_of(Loss loss);  // "few threads"
const char* meaning_of(Loss loss);     // "regions had fewer threads than CPUs"

}  // namespace weft::tools::report
