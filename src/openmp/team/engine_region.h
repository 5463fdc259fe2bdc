// SPDX-License-Identifier: Apache-2.0
// Regions that are one loop (openmp/team/loop_region.h), run by an engine (include/weft/engine.h).
#pragma once

#include "openmp/team/loop_region.h"

namespace weft::openmp {

// Runs the region on the engine. False when it is to run on weft: nothing has been done.
bool run_on_engine(LoopRegion& region, const Clauses& clauses) noexcept;

}  // namespace weft::openmp
