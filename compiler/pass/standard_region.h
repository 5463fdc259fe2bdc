// SPDX-License-Identifier: Apache-2.0
// The region as LLVM's standard interface starts it, for runtimes that do not take ranges: each member runs the body
// for ranges, and fetches them by the calls that the region's own loop would make. So a region's code is there once.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "loop_shape.h"

namespace weft::pass {

// Whether `fork` and direct calls are all that uses the region, so that its code can go to the body.
bool is_replaceable(const LoopShape& shape, const llvm::CallBase& fork);

// What a fork passes in the region's place: it takes the two thread numbers and the list of the captures. It has the
// region's name.
llvm::Function* make_standard_region(const LoopShape& shape, llvm::Function* body);

// Direct calls of the region, such as those of a region that is not parallel, run `body` too.
void redirect_calls(const LoopShape& shape, llvm::Function* body);

}  // namespace weft::pass
