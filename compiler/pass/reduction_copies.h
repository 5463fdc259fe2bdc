// SPDX-License-Identifier: Apache-2.0
// The private copies that a member combines with the originals at its end.
#pragma once

#include <llvm/IR/Function.h>

#include <string>

namespace weft::pass {

// Whether `region`, a region without its loop, changes a private copy after the compiler has initialized it: then each
// member counts, with iterations or not. For people to read; empty: it does not.
std::string changed_reduction(llvm::Function& region);

}  // namespace weft::pass
