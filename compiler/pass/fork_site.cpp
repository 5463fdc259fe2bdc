// SPDX-License-Identifier: Apache-2.0
#include "fork_site.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "calls.h"
#include "record.h"

namespace weft::pass {
namespace {

using namespace llvm;

struct Count {
  Value* iterations;
  Value* chunk;
};

// Whether the program has found a runtime that has `function`, and the region is to be parallel at all.
Value* is_offered(IRBuilder<>& builder, const CallBase& fork, Function* function) {
  Value* there = builder.CreateICmpNE(function, ConstantPointerNull::get(builder.getPtrTy()));
  if (first_capture(fork) == 3) return there;
  return builder.CreateAnd(there, builder.CreateIsNotNull(fork.getArgOperand(3)));
}

SmallVector<Value*, 8> captures_of(const CallBase& fork) {
  SmallVector<Value*, 8> captures;
  for (unsigned i = first_capture(fork); i < fork.arg_size(); ++i) captures.push_back(fork.getArgOperand(i));
  return captures;
}

Count compute_count(IRBuilder<>& builder, const CallBase& fork, const TripCount& trip_count) {
  Value* iterations = builder.CreateCall(trip_count.iterations, captures_of(fork));
  Value* chunk = builder.getInt64(trip_count.constant_chunk);
  if (trip_count.chunk != nullptr) chunk = builder.CreateCall(trip_count.chunk, captures_of(fork));
  return {iterations, chunk};
}

// Each function has one caller.
void dissolve(const TripCount& trip_count) {
  for (Function* function : {trip_count.iterations, trip_count.chunk}) {
    if (function == nullptr) continue;
    InlineFunctionInfo info;
    if (InlineFunction(*cast<CallBase>(*function->user_begin()), info).isSuccess()) function->eraseFromParent();
  }
}

// The region that starts as before is another function, which takes the list of the captures.
void pass_list(CallInst& fork, Function* region, Value* captures) {
  IRBuilder<> builder(&fork);
  SmallVector<Value*, 8> arguments{fork.getArgOperand(0), builder.getInt32(1), region};
  if (first_capture(fork) == 4) arguments.push_back(fork.getArgOperand(3));
  arguments.push_back(captures);
  CallInst* made = builder.CreateCall(fork.getFunctionType(), fork.getCalledOperand(), arguments);
  made->setAttributes(
      AttributeList::get(fork.getContext(), fork.getAttributes().getFnAttrs(), fork.getAttributes().getRetAttrs(), {}));
  made->setCallingConv(fork.getCallingConv());
}

MDNode* likely(LLVMContext& context) { return MDBuilder(context).createLikelyBranchWeights(); }

}  // namespace

void offer_ranges(CallInst& fork, const LoopShape& shape, const TripCount& trip_count, Function* body,
                  Function* standard_region) {
  Module& module = *fork.getModule();
  LLVMContext& context = fork.getContext();
  Function* run = parallel_for_function(module);
  GlobalVariable* record = make_record(shape, fork.getArgOperand(0), true);
  const SmallVector<Value*, 8> captures = captures_of(fork);

  IRBuilder<> entry(&*fork.getFunction()->getEntryBlock().getFirstInsertionPt());
  ArrayType* list = ArrayType::get(entry.getPtrTy(), std::max<size_t>(captures.size(), 1));
  AllocaInst* places = entry.CreateAlloca(list, nullptr, "weft.captures");

  BasicBlock* before = fork.getParent();
  BasicBlock* standard = SplitBlock(before, fork.getIterator());
  BasicBlock* after = SplitBlock(standard, std::next(fork.getIterator()));
  BasicBlock* offer = BasicBlock::Create(context, "weft.offer", fork.getFunction(), standard);
  before->getTerminator()->eraseFromParent();

  IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(fork.getDebugLoc());
  // To code around this region: nothing is left here from one time to the next.
  builder.CreateLifetimeStart(places);
  for (unsigned i = 0; i < captures.size(); ++i)
    builder.CreateStore(captures[i], builder.CreateConstInBoundsGEP2_32(list, places, 0, i));
  builder.CreateCondBr(is_offered(builder, fork, run), offer, standard, likely(context));
  builder.SetInsertPoint(offer);
  const Count count = compute_count(builder, fork, trip_count);
  CallInst* done = builder.CreateCall(run, {record, body, places, count.iterations, count.chunk});
  builder.CreateCondBr(builder.CreateIsNotNull(done), after, standard, likely(context));
  dissolve(trip_count);
  if (standard_region != nullptr) pass_list(fork, standard_region, places);
}

void announce_loop(CallBase& fork, const LoopShape& shape, const TripCount& trip_count) {
  Module& module = *fork.getModule();
  Function* push = push_loop_function(module);
  GlobalVariable* record = make_record(shape, fork.getArgOperand(0), false);
  IRBuilder<> builder(&fork);
  Value* there = is_offered(builder, fork, push);
  Instruction* then = SplitBlockAndInsertIfThen(there, fork.getIterator(), false, likely(fork.getContext()));
  builder.SetInsertPoint(then);
  builder.SetCurrentDebugLocation(fork.getDebugLoc());
  const Count count = compute_count(builder, fork, trip_count);
  builder.CreateCall(push, {record, count.iterations, count.chunk});
  dissolve(trip_count);
}

}  // namespace weft::pass
