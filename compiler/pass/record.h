// SPDX-License-Identifier: Apache-2.0
// The interface of include/weft/loop.h, as the compiler sees it.
#pragma once

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include "loop_shape.h"

namespace weft::pass {

// The fields of weft_range.
inline constexpr unsigned kRangeNext = 0;
inline constexpr unsigned kRangeBegin = 1;
inline constexpr unsigned kRangeEnd = 2;
inline constexpr unsigned kRangeLast = 3;
inline constexpr unsigned kRangeNumber = 4;

llvm::StructType* range_type(llvm::LLVMContext& context);

// The construct's weft_loop. `location`: what the region's fork passes. `alone`: its members may be left out.
llvm::GlobalVariable* make_record(const LoopShape& shape, llvm::Value* location, bool alone);

// The runtime's functions: null where the runtime that the program finds has none.
llvm::Function* parallel_for_function(llvm::Module& module);
llvm::Function* push_loop_function(llvm::Module& module);

}  // namespace weft::pass
