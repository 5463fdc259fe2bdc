// SPDX-License-Identifier: Apache-2.0
// Whether a function, reduced to what is of interest, does anything that others can see.
#pragma once

#include <llvm/IR/Function.h>

#include <string>

namespace weft::pass {

// What it does beyond its own slots, for people to read; empty: nothing. `queries`: whether it may use what it is told
// of the thread and its team.
std::string visible_effect(llvm::Function& function, bool queries);

}  // namespace weft::pass
