// SPDX-License-Identifier: Apache-2.0
// Every parallel region of a module that holds one loop: in ranges, announced, or left as it is.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

#include "loop_shape.h"
#include "report.h"
#include "settings.h"
#include "trip_count.h"

namespace weft::pass {

class ModuleLowering {
 public:
  ModuleLowering(llvm::Module& module, llvm::FunctionAnalysisManager& analyses, const Settings& settings)
      : module_(module), analyses_(analyses), settings_(settings) {}

  // Whether the module has changed.
  bool run();

 private:
  struct Plan {
    LoopShape shape;
    TripCount trip_count;
    Outcome outcome;
  };

  void lower(llvm::CallBase& fork);
  Plan plan_region(llvm::CallBase& fork, llvm::Function& region);
  void run_in_ranges(llvm::CallInst& fork, const Plan& plan);
  void erase_replaced();
  void fold_debug_function(llvm::Function& region);

  llvm::Module& module_;
  llvm::FunctionAnalysisManager& analyses_;
  const Settings& settings_;
  llvm::SmallPtrSet<llvm::CallBase*, 16> seen_;
  // To be erased at the end: forks that are listed somewhere are in there.
  llvm::SmallVector<llvm::CallInst*, 16> replaced_forks_;
  llvm::SmallVector<llvm::Function*, 16> replaced_regions_;
  bool changed_ = false;
};

}  // namespace weft::pass
