// SPDX-License-Identifier: Apache-2.0
#include "trip_count.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "clone.h"
#include "early_end.h"
#include "effects.h"
#include "loop_region.h"

namespace weft::pass {
namespace {

using namespace llvm;

// A way that does not lead to the loop has no iterations, whatever else the region does there.
void leave_at_other_ways(CallBase& init) {
  for (BasicBlock* block : blocks_without(init)) {
    // The unwinder needs its landing pads.
    if (block->isEHPad()) continue;
    changeToUnreachable(&*block->getFirstNonPHIIt());
    Instruction* stop = block->getTerminator();
    ReturnInst::Create(init.getContext(), ConstantInt::get(Type::getInt64Ty(init.getContext()), 0),
                       stop->getIterator());
    stop->eraseFromParent();
  }
}

using Result = Value*(IRBuilder<>&, const LoopShape&, CallBase& init);

ReturnInst* cut_at(CallBase& init, const LoopShape& shape, Result result) {
  BasicBlock* block = init.getParent();
  IRBuilder<> builder(&init);
  Value* value = result(builder, shape, init);
  SplitBlock(block, &init);
  block->getTerminator()->eraseFromParent();
  return ReturnInst::Create(init.getContext(), value, block);
}

Function* make_function(const LoopShape& shape, Result result, const char* suffix, FunctionAnalysisManager& analyses,
                        std::string& why) {
  Sample sample(*shape.function, Type::getInt64Ty(shape.function->getContext()), suffix, analyses);
  CallBase* init = sample.copy_of(shape.init);
  leave_at_other_ways(*init);
  const WeakVH end = cut_at(*init, shape, result);
  sample.expose();
  sample.promote();
  if (end != nullptr) return_early(cast<ReturnInst>(end));
  why = visible_effect(sample, false);
  if (why.empty()) return sample.keep();
  why = "before the loop: " + why;
  return nullptr;
}

}  // namespace

TripCount make_trip_count(const LoopShape& shape, FunctionAnalysisManager& analyses, std::string& why) {
  TripCount count;
  count.iterations = make_function(shape, iterations_of, ".count", analyses, why);
  if (count.iterations == nullptr || !shape.chunked) return count;
  if (const auto* constant = dyn_cast<ConstantInt>(shape.chunk())) {
    count.constant_chunk = constant->getSExtValue();
    return count;
  }
  count.chunk = make_function(shape, chunk_of, ".chunk", analyses, why);
  if (count.chunk == nullptr) {
    count.iterations->eraseFromParent();
    count.iterations = nullptr;
  }
  return count;
}

}  // namespace weft::pass
