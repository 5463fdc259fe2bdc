// SPDX-License-Identifier: Apache-2.0
// What a function returns is often known before it does things that others can see.
#pragma once

#include <llvm/IR/Instructions.h>

namespace weft::pass {

// Lets the function return what `end` returns as soon as that is known, and sure to be returned. Where another return
// or an exception comes between, it stays as it is.
void return_early(llvm::ReturnInst* end);

}  // namespace weft::pass
