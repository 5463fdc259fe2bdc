// SPDX-License-Identifier: Apache-2.0
// Copies of a region's outlined function: one that the program will run, others that only exist to be looked at.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace weft::pass {

// Copies `from` into the empty function `to`. `captures` stand for its arguments behind the two thread numbers,
// `number` for what the first of these points to. What compilers put at the region's beginning comes into the entry
// block, which is returned: it ends with a branch to the copy.
llvm::BasicBlock* copy_region(llvm::Function& to, llvm::Function& from, llvm::ArrayRef<llvm::Value*> captures,
                              llvm::Value* number, llvm::ValueToValueMapTy& copies);

// The same without a copy: `from` is left without code. `number` and `captures` are in the entry block of `to`.
void move_region(llvm::Function& to, llvm::Function& from, llvm::ArrayRef<llvm::Value*> captures, llvm::Value* number);

// The types of `region`'s captures.
llvm::SmallVector<llvm::Type*, 8> capture_types(const llvm::Function& region);

// A function that is looked at, and erased unless it is kept.
class Sample {
 public:
  // It takes the region's captures and returns `result`.
  Sample(llvm::Function& region, llvm::Type* result, const char* suffix, llvm::FunctionAnalysisManager& analyses);
  ~Sample();
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  llvm::Function& function() { return *function_; }
  template <class T>
  T* copy_of(const T* original) {
    return llvm::cast<T>(copies_[original]);
  }
  // Erases what cannot be reached, barriers, and calls that may be inlined: small ones, at any level of optimization.
  // Initializers of reductions, which clang has functions for, are of interest as such.
  enum class Initializers { kept, inlined };
  void expose(Initializers initializers = Initializers::inlined);
  // Brings slots into values; their stores stay in order.
  void promote();
  // Takes out what has no use. `thoroughly`: by what takes more time, too.
  void simplify(bool thoroughly);
  llvm::Function* keep();

 private:
  void inline_callees(Initializers initializers);
  void refresh();
  llvm::Function* function_;
  llvm::FunctionAnalysisManager& analyses_;
  llvm::ValueToValueMapTy copies_;
};

}  // namespace weft::pass
