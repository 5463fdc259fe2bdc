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

// The bounds are inclusive. An unsigned loop without iterations may end at the counter's largest value, one before its
// first: that wraps to 0 in the counter's own width.
Value* count_of(IRBuilder<>& builder, const LoopShape& shape, Value* lower, Value* upper) {
  Type* type = lower->getType();
  Value* empty = shape.is_unsigned ? builder.CreateICmpULT(upper, lower) : builder.CreateICmpSLT(upper, lower);
  Value* count = builder.CreateAdd(builder.CreateSub(upper, lower), ConstantInt::get(type, 1));
  count = builder.CreateSelect(empty, ConstantInt::get(type, 0), count);
  return builder.CreateZExt(count, builder.getInt64Ty());
}

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

Value* iterations_of(IRBuilder<>& builder, const LoopShape& shape, CallBase& init) {
  Value* lower = init.getArgOperand(shape.dispatched ? 3 : 4);
  Value* upper = init.getArgOperand(shape.dispatched ? 4 : 5);
  if (!shape.dispatched) {
    Type* type = builder.getIntNTy(shape.bits);
    lower = builder.CreateLoad(type, lower);
    upper = builder.CreateLoad(type, upper);
  }
  return count_of(builder, shape, lower, upper);
}

Value* chunk_of(IRBuilder<>& builder, const LoopShape& shape, CallBase& init) {
  return builder.CreateSExt(init.getArgOperand(shape.dispatched ? 6 : 8), builder.getInt64Ty());
}

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
  sample.simplify();
  why = visible_effect(sample.function(), false);
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
