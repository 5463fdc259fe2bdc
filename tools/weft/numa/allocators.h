// SPDX-License-Identifier: Apache-2.0
// Which of the callers of an allocation is the one that its user wants to know.
#pragma once

#include <cstdint>
#include <vector>

#include "numa/report.h"

namespace weft::tools::numa {

// Names the row by the innermost frame that is neither the collector's, nor of a library that only passes the request
// on (the C library, the C++ and Fortran ones), nor a container's. All frames behind it become its stack.
void name_row(const std::vector<uint64_t>& frames, Symbols* symbols, ArrayRow& row);

}  // namespace weft::tools::numa
