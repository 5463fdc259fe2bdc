// SPDX-License-Identifier: Apache-2.0
// The region as a weft_loop_body: the same code, but its loop fetches ranges from the runtime.
#pragma once

#include "loop_shape.h"

namespace weft::pass {

// `void (weft_range*, void** captures)`: private variables, the loop once for each range, the ends of reductions.
// `replaces`: the region's own code is used, so that it has none afterwards; else a copy.
llvm::Function* make_range_body(const LoopShape& shape, bool replaces);

}  // namespace weft::pass
