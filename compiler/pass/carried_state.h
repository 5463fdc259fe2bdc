// SPDX-License-Identifier: Apache-2.0
// Whether a member's private memory brings something from one range of iterations to its next one.
#pragma once

#include "loop_shape.h"

namespace weft::pass {

// A program whose iterations find there what earlier ones have left may count on an ascending order within each member:
// a static schedule is monotonic (OpenMP 5.2, section 11.5.3). Copies of reductions do not count: their values are
// combined in any order. Nor does what functions keep in memory of the thread: that is not seen here.
bool carries_state(const LoopShape& shape);

}  // namespace weft::pass
