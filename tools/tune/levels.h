// SPDX-License-Identifier: Apache-2.0
// What a message costs between two ranks, by how near they are: the parameters of the model.
#pragma once

#include <cstdio>

namespace weft::tune {

// Writes a line of JSON for each level that two ranks have between them, on rank 0. Collective.
void measure_levels(std::FILE* out);

}  // namespace weft::tune
