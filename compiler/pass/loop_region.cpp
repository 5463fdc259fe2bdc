// SPDX-License-Identifier: Apache-2.0
#include "loop_region.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "calls.h"
#include "loop_shape.h"

namespace weft::pass {
namespace {

using namespace llvm;

using Blocks = SmallPtrSet<BasicBlock*, 32>;

// The blocks that control enters after `from`, without passing through the end of `stop`.
Blocks blocks_after(BasicBlock* from, const BasicBlock* stop) {
  Blocks seen;
  SmallVector<BasicBlock*, 32> pending;
  if (from != stop) pending.append(succ_begin(from), succ_end(from));
  while (!pending.empty()) {
    BasicBlock* block = pending.pop_back_val();
    if (!seen.insert(block).second || block == stop) continue;
    pending.append(succ_begin(block), succ_end(block));
  }
  return seen;
}

// The blocks from which control may come to `target`, and itself.
Blocks blocks_to(BasicBlock* target) {
  Blocks seen;
  SmallVector<BasicBlock*, 32> pending{target};
  while (!pending.empty()) {
    BasicBlock* block = pending.pop_back_val();
    if (seen.insert(block).second) pending.append(pred_begin(block), pred_end(block));
  }
  return seen;
}

bool is_inside(const Instruction& instruction, const CallBase& init, const CallBase& fini, const Blocks& blocks) {
  BasicBlock* block = const_cast<BasicBlock*>(instruction.getParent());
  if (block == init.getParent())
    return init.comesBefore(&instruction) && (block != fini.getParent() || instruction.comesBefore(&fini));
  if (block == fini.getParent()) return instruction.comesBefore(&fini);
  return blocks.contains(block);
}

bool comes_before(Instruction& first, Instruction& second) {
  if (first.getParent() == second.getParent() && first.comesBefore(&second)) return true;
  return blocks_after(first.getParent(), nullptr).contains(second.getParent());
}

bool writes_own_slots_only(const Instruction& instruction) {
  if (const auto* store = dyn_cast<StoreInst>(&instruction))
    return !store->isVolatile() && isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand(), 0));
  const auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  return intrinsic != nullptr && (intrinsic->isLifetimeStartOrEnd() || intrinsic->isAssumeLikeIntrinsic() ||
                                  intrinsic->getIntrinsicID() == Intrinsic::stackrestore ||
                                  intrinsic->getIntrinsicID() == Intrinsic::stacksave);
}

bool may_follow_barrier(const Instruction& instruction) {
  switch (classify(instruction)) {
    case Call::barrier:
    case Call::reduce:
    case Call::end_reduce:
    case Call::query:
    case Call::dispatch_deinit: return true;
    case Call::none: return !instruction.mayHaveSideEffects() || writes_own_slots_only(instruction);
    default: return false;
  }
}

// Whether the region does nothing after `barrier` that another member could see, but for combining its reductions.
bool only_ends_follow(Instruction& barrier, const SmallPtrSet<BasicBlock*, 8>& combining) {
  for (Instruction* next = barrier.getNextNode(); next != nullptr; next = next->getNextNode())
    if (!combining.contains(next->getParent()) && !may_follow_barrier(*next)) return false;
  for (BasicBlock* block : blocks_after(barrier.getParent(), nullptr)) {
    if (combining.contains(block)) continue;
    for (Instruction& instruction : *block)
      if (!may_follow_barrier(instruction)) return false;
  }
  return true;
}

}  // namespace

bool is_repeated(CallBase& init) { return blocks_after(init.getParent(), nullptr).contains(init.getParent()); }

SmallVector<BasicBlock*, 8> blocks_without(CallBase& init) {
  const Blocks before = blocks_to(init.getParent());
  SmallVector<BasicBlock*, 8> others;
  for (BasicBlock& block : *init.getFunction())
    if (!before.contains(&block)) others.push_back(&block);
  return others;
}

std::string why_not_repeatable(CallBase& init, CallBase& fini) {
  for (unsigned slot = 3; slot <= 6; ++slot)
    if (!isa<AllocaInst>(init.getArgOperand(slot)->stripPointerCasts()))
      return "the loop's bounds are not in slots of their own";
  const DominatorTree dominators(*init.getFunction());
  const Blocks to_fini = blocks_to(fini.getParent());
  const Blocks after_fini = blocks_after(fini.getParent(), nullptr);
  Blocks inside;
  for (BasicBlock* block : blocks_after(init.getParent(), fini.getParent())) {
    if (!to_fini.contains(block)) {
      // Where the program ends. Others may come there too, but no member of theirs comes back.
      if (isa<ReturnInst, ResumeInst>(block->getTerminator())) return "the loop has several ends";
      if (!after_fini.contains(block)) inside.insert(block);
      continue;
    }
    if (!dominators.dominates(init.getParent(), block)) return "the loop is entered by another way";
    inside.insert(block);
  }
  if (!inside.contains(fini.getParent())) return "the loop has no end";
  for (Instruction& instruction : instructions(*init.getFunction())) {
    if (!is_inside(instruction, init, fini, inside)) continue;
    for (const User* user : instruction.users())
      if (user != &fini && !is_inside(*cast<Instruction>(user), init, fini, inside))
        return "a value of the loop is used after it";
  }
  return {};
}

bool may_make_tasks(Function& function) {
  for (Instruction& instruction : instructions(function)) {
    const auto* call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr) continue;
    const StringRef name = callee_name(instruction);
    if (name.starts_with("__kmpc_omp_task") || name.starts_with("__kmpc_taskloop")) return true;
    if (isa<IntrinsicInst>(call) || name.starts_with("__kmpc_") || classify(instruction) == Call::query) continue;
    if (!call->onlyReadsMemory()) return true;
  }
  return false;
}

bool publishes_private(Function& function) {
  const auto is_own = [](const Value* pointer) { return isa<AllocaInst>(getUnderlyingObject(pointer, 0)); };
  return any_of(instructions(function), [&](const Instruction& instruction) {
    const auto* store = dyn_cast<StoreInst>(&instruction);
    return store != nullptr && store->getValueOperand()->getType()->isPointerTy() && is_own(store->getValueOperand()) &&
           !is_own(store->getPointerOperand());
  });
}

CallBase* common_barrier(Function& function) {
  const DominatorTree dominators(function);
  for (Instruction& instruction : instructions(function)) {
    if (classify(instruction) != Call::barrier) continue;
    const bool common = all_of(function, [&](BasicBlock& block) {
      return !isa<ReturnInst>(block.getTerminator()) || dominators.dominates(&instruction, block.getTerminator());
    });
    if (common) return cast<CallBase>(&instruction);
  }
  return nullptr;
}

std::string why_not_last(Function& function, CallBase& init) {
  const auto combining = combining_blocks(function);
  for (Instruction& instruction : instructions(function)) {
    const bool waits = classify(instruction) == Call::barrier || callee_name(instruction) == "__kmpc_end_reduce";
    if (!waits) continue;
    if (comes_before(instruction, init)) return "a barrier before the loop's end";
    if (!only_ends_follow(instruction, combining)) return "code after the loop's barrier";
  }
  return {};
}

}  // namespace weft::pass
