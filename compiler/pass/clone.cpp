// SPDX-License-Identifier: Apache-2.0
#include "clone.h"

#include <llvm/Analysis/InlineCost.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "calls.h"

namespace weft::pass {
namespace {

using namespace llvm;

constexpr unsigned kCalleeLimit = 150;  // instructions
constexpr unsigned kInlineLimit = 3000;  // in all

// Slots of constant size that stand in a row of blocks from the entry on are executed once: they go to the entry block,
// where passes and debuggers look for them.
void raise_slots(BasicBlock* entry) {
  SmallPtrSet<BasicBlock*, 8> seen;
  for (BasicBlock* block = entry->getSingleSuccessor(); block != nullptr && seen.insert(block).second;
       block = block->getSingleSuccessor()) {
    if (block->getSinglePredecessor() == nullptr) return;
    for (Instruction& instruction : make_early_inc_range(*block)) {
      auto* slot = dyn_cast<AllocaInst>(&instruction);
      if (slot != nullptr && isa<ConstantInt>(slot->getArraySize())) slot->moveBefore(entry->getTerminator());
    }
  }
}

// What a query returns is of no interest to a sample, unless it is used.
void let_queries_go(Function& function) {
  for (Instruction& instruction : make_early_inc_range(instructions(function))) {
    if (classify(instruction) == Call::barrier && isa<CallInst>(instruction)) {
      instruction.eraseFromParent();
    } else if (classify(instruction) == Call::query) {
      auto& call = cast<CallBase>(instruction);
      call.setOnlyReadsMemory();
      call.setDoesNotThrow();
      call.addFnAttr(Attribute::WillReturn);
    }
  }
}

bool may_inline(const CallBase& call, const Function& into) {
  Function* callee = call.getCalledFunction();
  return callee != nullptr && !callee->isDeclaration() && !callee->isInterposable() && !callee->isVarArg() &&
         callee != &into && !callee->hasFnAttribute(Attribute::ReturnsTwice) &&
         callee->getInstructionCount() < kCalleeLimit && isInlineViable(*callee).isSuccess();
}

// What stands for the arguments of a region, with slots for the two thread numbers.
SmallVector<Value*, 8> make_arguments(IRBuilder<>& builder, ArrayRef<Value*> captures, Value* number) {
  AllocaInst* number_slot = builder.CreateAlloca(builder.getInt32Ty(), nullptr, "weft.number");
  AllocaInst* bound_slot = builder.CreateAlloca(builder.getInt32Ty(), nullptr, "weft.bound");
  builder.CreateStore(number, number_slot);
  builder.CreateStore(builder.getInt32(0), bound_slot);
  SmallVector<Value*, 8> arguments{number_slot, bound_slot};
  arguments.append(captures.begin(), captures.end());
  return arguments;
}

// The arguments are others.
void take_attributes(Function& to, const Function& from) {
  to.setAttributes(AttributeList::get(to.getContext(), AttributeList::FunctionIndex,
                                      AttrBuilder(to.getContext(), from.getAttributes().getFnAttrs())));
  for (const auto attribute : {Attribute::AlwaysInline, Attribute::NoRecurse, Attribute::Memory})
    to.removeFnAttr(attribute);
}

}  // namespace

SmallVector<Type*, 8> capture_types(const Function& region) {
  SmallVector<Type*, 8> types;
  for (unsigned i = 2; i < region.arg_size(); ++i) types.push_back(region.getArg(i)->getType());
  return types;
}

BasicBlock* copy_region(Function& to, Function& from, ArrayRef<Value*> captures, Value* number,
                        ValueToValueMapTy& copies) {
  BasicBlock* entry = to.empty() ? BasicBlock::Create(to.getContext(), "weft.entry", &to) : &to.getEntryBlock();
  IRBuilder<> builder(entry);
  const auto arguments = make_arguments(builder, captures, number);
  for (unsigned i = 0; i < from.arg_size(); ++i) copies[from.getArg(i)] = arguments[i];
  SmallVector<ReturnInst*, 4> returns;
  CloneFunctionInto(&to, &from, copies, CloneFunctionChangeType::LocalChangesOnly, returns);
  builder.CreateBr(cast<BasicBlock>(copies[&from.getEntryBlock()]));
  raise_slots(entry);
  take_attributes(to, from);
  return entry;
}

void move_region(Function& to, Function& from, ArrayRef<Value*> captures, Value* number) {
  BasicBlock* entry = &to.getEntryBlock();
  BasicBlock* first = &from.getEntryBlock();
  IRBuilder<> builder(entry);
  const auto arguments = make_arguments(builder, captures, number);
  for (unsigned i = 0; i < from.arg_size(); ++i) from.getArg(i)->replaceAllUsesWith(arguments[i]);
  if (from.hasPersonalityFn()) to.setPersonalityFn(from.getPersonalityFn());
  to.copyMetadata(&from, 0);
  from.clearMetadata();
  to.splice(to.end(), &from);
  builder.CreateBr(first);
  raise_slots(entry);
  take_attributes(to, from);
}

Sample::Sample(Function& region, Type* result, const char* suffix, FunctionAnalysisManager& analyses)
    : analyses_(analyses) {
  function_ = Function::Create(FunctionType::get(result, capture_types(region), false), GlobalValue::InternalLinkage,
                               region.getName() + suffix, region.getParent());
  SmallVector<Value*, 8> captures;
  for (Argument& argument : function_->args()) captures.push_back(&argument);
  // Nobody debugs it, and a function that is inlined may not share its variables with the region. Without a subprogram
  // the copy goes without a search through all debug information.
  DISubprogram* subprogram = region.getSubprogram();
  region.setSubprogram(nullptr);
  copy_region(*function_, region, captures, ConstantInt::get(Type::getInt32Ty(region.getContext()), 0), copies_);
  region.setSubprogram(subprogram);
  function_->removeFnAttr(Attribute::NoInline);
  function_->removeFnAttr(Attribute::OptimizeNone);
  stripDebugInfo(*function_);
}

Sample::~Sample() {
  if (function_ == nullptr) return;
  analyses_.clear(*function_, function_->getName());
  function_->eraseFromParent();
}

void Sample::inline_callees(Initializers initializers) {
  unsigned budget = kInlineLimit;
  bool again = true;
  while (again) {
    again = false;
    SmallVector<CallBase*, 16> calls;
    for (Instruction& instruction : instructions(*function_))
      if (auto* call = dyn_cast<CallBase>(&instruction); call != nullptr && may_inline(*call, *function_)) {
        const bool initializes = callee_name(*call).starts_with(".omp_initializer.");
        if (!initializes || initializers == Initializers::inlined) calls.push_back(call);
      }
    for (CallBase* call : calls) {
      const unsigned size = call->getCalledFunction()->getInstructionCount();
      if (size > budget) return;
      InlineFunctionInfo info;
      if (!InlineFunction(*call, info).isSuccess()) continue;
      budget -= size;
      again = true;
    }
  }
}

void Sample::expose(Initializers initializers) {
  removeUnreachableBlocks(*function_);
  inline_callees(initializers);
  stripDebugInfo(*function_);
  let_queries_go(*function_);
}

void Sample::refresh() { analyses_.invalidate(*function_, PreservedAnalyses::none()); }

void Sample::promote() {
  refresh();
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.run(*function_, analyses_);
  refresh();
}

void Sample::simplify(bool thoroughly) {
  refresh();
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(true));
  if (thoroughly) passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(thoroughly));
  if (thoroughly) passes.addPass(InstCombinePass());
  passes.addPass(ADCEPass());
  passes.addPass(SimplifyCFGPass());
  passes.run(*function_, analyses_);
  refresh();
}

Function* Sample::keep() {
  analyses_.clear(*function_, function_->getName());
  Function* kept = function_;
  function_ = nullptr;
  return kept;
}

}  // namespace weft::pass
