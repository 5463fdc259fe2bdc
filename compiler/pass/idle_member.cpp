// SPDX-License-Identifier: Apache-2.0
#include "idle_member.h"

#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include "calls.h"
#include "clone.h"
#include "effects.h"
#include "reduction_copies.h"

namespace weft::pass {
namespace {

using namespace llvm;

// So that conditions on the result are decided before ways are looked at.
void replace_call(CallBase* call, uint64_t result) {
  Function* function = call->getFunction();
  replaceAndRecursivelySimplify(call, ConstantInt::get(call->getType(), result));
  call->eraseFromParent();
  for (BasicBlock& block : *function) ConstantFoldTerminator(&block);
}

// A member may combine its reductions: it does so with what they began with.
void leave_reductions_out(Function& function) {
  SmallVector<CallBase*, 4> calls;
  for (Instruction& instruction : instructions(function))
    if (classify(instruction) == Call::reduce) calls.push_back(cast<CallBase>(&instruction));
  for (CallBase* call : calls) replace_call(call, 0);
  removeUnreachableBlocks(function);
}

// The loop has no iterations: control goes from its beginning to its end.
void leave_loop_out(Sample& sample, const LoopShape& shape) {
  CallBase* init = sample.copy_of(shape.init);
  if (shape.dispatched) {
    CallBase* next = sample.copy_of(shape.next);
    replace_call(next, 0);
    init->eraseFromParent();
  } else {
    CallBase* fini = sample.copy_of(shape.fini);
    BasicBlock* behind = SplitBlock(fini->getParent(), fini->getNextNode());
    BasicBlock* block = init->getParent();
    SplitBlock(block, init);
    block->getTerminator()->eraseFromParent();
    BranchInst::Create(behind, block);
  }
  for (Instruction& instruction : make_early_inc_range(instructions(sample.function())))
    if (classify(instruction) == Call::dispatch_deinit) instruction.eraseFromParent();
}

}  // namespace

std::string trace_of_idle_member(const LoopShape& shape, FunctionAnalysisManager& analyses) {
  Sample sample(*shape.function, Type::getVoidTy(shape.function->getContext()), ".idle", analyses);
  leave_loop_out(sample, shape);
  sample.expose(Sample::Initializers::kept);
  sample.promote();
  std::string trace = changed_reduction(sample.function());
  if (!trace.empty()) return trace;
  leave_reductions_out(sample.function());
  sample.expose();
  trace = visible_effect(sample, true);
  return trace.empty() ? trace : "outside of the loop: " + trace;
}

}  // namespace weft::pass
