// SPDX-License-Identifier: Apache-2.0
// What messages cost while all ranks of the job are in the same operation: the parameters of the model, by size.
#pragma once

#include <cstdio>

#include "node_barrier.h"

namespace weft::tune {

// Writes a line of JSON for each pattern on rank 0: {"pattern":"round","points":[[BYTES,NANOSECONDS],...]}. Collective.
void measure_patterns(NodeBarrier& barrier, std::FILE* out);

}  // namespace weft::tune
