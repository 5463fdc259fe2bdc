// SPDX-License-Identifier: Apache-2.0
#include "trip_count.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "clone.h"
#include "effects.h"
#include "loop_region.h"

namespace weft::pass {
namespace {

using namespace llvm;

StructType* result_type(LLVMContext& context) {
  Type* number = Type::getInt64Ty(context);
  return StructType::get(context, {number, number});
}

// The bounds are inclusive. An unsigned loop without iterations may end at the counter's largest value, one before its
// first: that wraps to 0 in the counter's own width.
Value* count_of(IRBuilder<>& builder, const LoopShape& shape, Value* lower, Value* upper) {
  Type* type = lower->getType();
  Value* empty = shape.is_unsigned ? builder.CreateICmpULT(upper, lower) : builder.CreateICmpSLT(upper, lower);
  Value* count = builder.CreateAdd(builder.CreateSub(upper, lower), ConstantInt::get(type, 1));
  count = builder.CreateSelect(empty, ConstantInt::get(type, 0), count);
  return builder.CreateZExt(count, builder.getInt64Ty());
}

Value* chunk_of(IRBuilder<>& builder, const LoopShape& shape, CallBase& init) {
  if (!shape.chunked) return builder.getInt64(0);
  return builder.CreateSExt(init.getArgOperand(shape.dispatched ? 6 : 8), builder.getInt64Ty());
}

// A way that does not lead to the loop has no iterations, whatever else the region does there.
void leave_at_other_ways(CallBase& init, LLVMContext& context) {
  Constant* none = Constant::getNullValue(result_type(context));
  for (BasicBlock* block : blocks_without(init)) {
    // The unwinder needs its landing pads.
    if (block->isEHPad()) continue;
    Instruction* first = &*block->getFirstNonPHIIt();
    changeToUnreachable(first);
    ReturnInst::Create(context, none, block->getTerminator()->getIterator());
    block->getTerminator()->eraseFromParent();
  }
}

void cut_at(CallBase& init, const LoopShape& shape) {
  BasicBlock* block = init.getParent();
  IRBuilder<> builder(&init);
  Type* type = builder.getIntNTy(shape.bits);
  Value* lower = init.getArgOperand(shape.dispatched ? 3 : 4);
  Value* upper = init.getArgOperand(shape.dispatched ? 4 : 5);
  if (!shape.dispatched) {
    lower = builder.CreateLoad(type, lower);
    upper = builder.CreateLoad(type, upper);
  }
  Value* result = PoisonValue::get(result_type(init.getContext()));
  result = builder.CreateInsertValue(result, count_of(builder, shape, lower, upper), 0);
  result = builder.CreateInsertValue(result, chunk_of(builder, shape, init), 1);
  SplitBlock(block, &init);
  block->getTerminator()->eraseFromParent();
  ReturnInst::Create(init.getContext(), result, block);
}

}  // namespace

Function* make_trip_count(const LoopShape& shape, FunctionAnalysisManager& analyses, std::string& why) {
  Sample sample(*shape.function, result_type(shape.function->getContext()), ".count", analyses);
  CallBase* init = sample.copy_of(shape.init);
  leave_at_other_ways(*init, init->getContext());
  cut_at(*init, shape);
  sample.expose();
  sample.simplify();
  why = visible_effect(sample.function(), false);
  if (!why.empty()) {
    why = "before the loop: " + why;
    return nullptr;
  }
  return sample.keep();
}

}  // namespace weft::pass
