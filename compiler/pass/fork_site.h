// SPDX-License-Identifier: Apache-2.0
// The place where a program starts a region: what comes before the call that starts it by the standard interface.
#pragma once

#include <llvm/IR/Instructions.h>

#include "loop_shape.h"
#include "trip_count.h"

namespace weft::pass {

// The runtime gets to run the region by `body`. Where there is none, or it says no, the region starts as before; or,
// with `standard`, by that function in the region's place (standard_region.h); `fork` is left to be erased.
void offer_ranges(llvm::CallInst& fork, const LoopShape& shape, const TripCount& trip_count, llvm::Function* body,
                  llvm::Function* standard);

// The runtime is told of the loop; then the region starts as before.
void announce_loop(llvm::CallBase& fork, const LoopShape& shape, const TripCount& trip_count);

}  // namespace weft::pass
