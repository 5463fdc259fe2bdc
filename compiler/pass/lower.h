// SPDX-License-Identifier: Apache-2.0
// Every parallel region of a module that holds one loop: in ranges, announced, or left as it is.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/PassManager.h>

#include "report.h"
#include "settings.h"

namespace weft::pass {

class ModuleLowering {
 public:
  ModuleLowering(llvm::Module& module, llvm::FunctionAnalysisManager& analyses, const Settings& settings)
      : module_(module), analyses_(analyses), settings_(settings) {}

  // Whether the module has changed.
  bool run();

 private:
  void lower(llvm::CallBase& fork);
  Outcome lower_region(llvm::CallBase& fork, llvm::Function& region);
  void fold_debug_function(llvm::Function& region);

  llvm::Module& module_;
  llvm::FunctionAnalysisManager& analyses_;
  const Settings& settings_;
  llvm::SmallPtrSet<llvm::CallBase*, 16> seen_;
  bool changed_ = false;
};

}  // namespace weft::pass
