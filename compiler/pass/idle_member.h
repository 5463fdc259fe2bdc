// SPDX-License-Identifier: Apache-2.0
// A member that gets no iterations may be left out only if nobody could tell.
#pragma once

#include <llvm/IR/PassManager.h>

#include <string>

#include "loop_shape.h"

namespace weft::pass {

// What a member without iterations does that others can see; empty: nothing.
std::string trace_of_idle_member(const LoopShape& shape, llvm::FunctionAnalysisManager& analyses);

}  // namespace weft::pass
