// SPDX-License-Identifier: Apache-2.0
// What a region's outlined function looks like: which worksharing loop it holds, and whether that loop can be run in
// ranges that the runtime hands out.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>

#include <cstdint>
#include <string>

#include "weft/loop.h"

namespace weft::pass {

struct LoopShape {
  llvm::Function* function = nullptr;
  llvm::CallBase* init = nullptr;  // null: it does not hold exactly one loop; `obstacle` says why
  llvm::CallBase* fini = nullptr;  // of a static loop
  llvm::CallBase* next = nullptr;  // of a dispatched one
  // What `init` passes.
  llvm::Value* location = nullptr;
  llvm::Value* kind = nullptr;
  bool dispatched = false;
  bool is_unsigned = false;
  unsigned bits = 32;  // of the counter
  weft_schedule schedule = WEFT_SCHEDULE_STATIC;
  bool chunked = false;  // the program gives a chunk size
  bool monotonic = true;
  bool reads_last = false;
  llvm::CallBase* task_barrier = nullptr;  // the tasks of the region end here, while private variables are there
  bool asks_number = false;  // calls omp_get_thread_num() itself
  const char* construct = "parallel";  // for reports
  std::string obstacle;  // empty: nothing found that keeps it from running in ranges

  llvm::Value* last_slot() const;
  llvm::Value* lower() const;  // a slot of a static loop, a value of a dispatched one
  llvm::Value* upper() const;
  llvm::Value* stride_slot() const;
  llvm::Value* chunk() const;
};

LoopShape find_loop(llvm::Function& function);

// What `init`, or a copy of it, passes to the runtime, as i64: computed there.
llvm::Value* iterations_of(llvm::IRBuilder<>& builder, const LoopShape& shape, llvm::CallBase& init);
llvm::Value* chunk_of(llvm::IRBuilder<>& builder, const LoopShape& shape, llvm::CallBase& init);

// Blocks that run only inside of a reduction's `switch`: they combine private copies with the originals.
llvm::SmallPtrSet<llvm::BasicBlock*, 8> combining_blocks(llvm::Function& function);

}  // namespace weft::pass
