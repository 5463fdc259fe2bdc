// SPDX-License-Identifier: Apache-2.0
// How many iterations a region's loop will have, computed before the region starts.
#pragma once

#include <llvm/IR/PassManager.h>

#include <string>

#include "loop_shape.h"

namespace weft::pass {

// A function that takes the region's captures and returns {iterations, chunk}, both i64: the region up to the call that
// starts the loop. It has no effect. Null: there is none, for the reason in `why`.
llvm::Function* make_trip_count(const LoopShape& shape, llvm::FunctionAnalysisManager& analyses, std::string& why);

}  // namespace weft::pass
