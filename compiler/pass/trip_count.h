// SPDX-License-Identifier: Apache-2.0
// How many iterations a region's loop will have, computed before the region starts.
#pragma once

#include <llvm/IR/PassManager.h>

#include <string>

#include "loop_shape.h"

namespace weft::pass {

// Each takes the region's captures, returns an i64 and has no effect: it is the region up to the call that starts the
// loop.
struct TripCount {
  llvm::Function* iterations = nullptr;  // null: they cannot be counted
  llvm::Function* chunk = nullptr;  // null: it is `constant_chunk`
  int64_t constant_chunk = 0;
};

// `why` tells why there is none.
TripCount make_trip_count(const LoopShape& shape, llvm::FunctionAnalysisManager& analyses, std::string& why);

}  // namespace weft::pass
