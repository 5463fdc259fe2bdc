// SPDX-License-Identifier: Apache-2.0
// What this MPI says of itself: its version, its file, and which algorithms its variables know.
#pragma once

#include <cstdio>

namespace weft::tune {

// A line of JSON for the library, then one for each name that it knows.
void describe_variables(std::FILE* out, char** names);

}  // namespace weft::tune
