// SPDX-License-Identifier: Apache-2.0
// What this MPI says of itself: how many ranks it sees, its version, its file, and which algorithms its variables know.
#pragma once

#include <cstdio>

namespace weft::tune {

// A line of JSON for the ranks and the library. Under the launcher of another MPI, each rank is alone.
void describe_job(std::FILE* out);

// A line for each name that it knows.
void describe_variables(std::FILE* out, char** names);

}  // namespace weft::tune
