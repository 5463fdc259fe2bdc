// SPDX-License-Identifier: Apache-2.0
// The part of a region that the loop is: from the call that starts the loop to the one that ends it.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

#include <string>

namespace weft::pass {

// Whether control can come back to `init`.
bool is_repeated(llvm::CallBase& init);

// Why control cannot be sent from `fini` back to behind `init`; empty when it can. The loop's private state is in
// memory then, so that it is kept.
std::string why_not_repeatable(llvm::CallBase& init, llvm::CallBase& fini);

// Blocks from which control does not come to `init`.
llvm::SmallVector<llvm::BasicBlock*, 8> blocks_without(llvm::CallBase& init);

// Why a barrier of the region is not implied by the region's end; empty when all are, or there is none.
std::string why_not_last(llvm::Function& function, llvm::CallBase& init);

// Whether members may leave tasks behind.
bool may_make_tasks(llvm::Function& function);

// Whether the region stores the address of a private variable where others find it.
bool publishes_private(llvm::Function& function);

// A barrier that every member comes to; null: there is none.
llvm::CallBase* common_barrier(llvm::Function& function);

}  // namespace weft::pass
