// SPDX-License-Identifier: Apache-2.0
// The sink of `weft trace`.
#pragma once

#include <cstdint>

#include "observe/record/sink/sink.h"

namespace weft::observe::trace {

// Null: the environment does not ask for it.
const Sink* trace_sink();

// What the process is among the ranks of MPI; `together`: when all were at the same place.
void set_rank(int rank, int ranks, int64_t together) noexcept;

}  // namespace weft::observe::trace
