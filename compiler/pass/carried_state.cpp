// SPDX-License-Identifier: Apache-2.0
#include "carried_state.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "calls.h"

namespace weft::pass {
namespace {

using namespace llvm;

// What the code of one range does: from the call that has fetched it to the one that fetches the next.
class RangeCode {
 public:
  explicit RangeCode(const LoopShape& shape)
      : first_(shape.dispatched ? shape.next : shape.init), end_(shape.dispatched ? shape.next : shape.fini) {
    SmallVector<const BasicBlock*, 32> pending{end_->getParent()};
    while (!pending.empty()) {
      const BasicBlock* block = pending.pop_back_val();
      if (to_end_.insert(block).second) pending.append(pred_begin(block), pred_end(block));
    }
  }

  // Calls `visit` with each instruction on each way until it returns false: the way ends there.
  template <typename Visit>
  void walk(const Visit& visit) const {
    SmallPtrSet<const BasicBlock*, 32> seen;
    SmallVector<const BasicBlock*, 32> pending;
    walk_from(first_->getNextNode(), visit, pending);
    while (!pending.empty()) {
      const BasicBlock* block = pending.pop_back_val();
      if (to_end_.contains(block) && seen.insert(block).second) walk_from(&block->front(), visit, pending);
    }
  }

 private:
  template <typename Visit>
  void walk_from(const Instruction* instruction, const Visit& visit,
                 SmallVectorImpl<const BasicBlock*>& pending) const {
    for (; instruction != nullptr; instruction = instruction->getNextNode())
      if (instruction == end_ || !visit(*instruction))
        return;
      else if (instruction->isTerminator())
        pending.append(succ_begin(instruction->getParent()), succ_end(instruction->getParent()));
  }

  const Instruction* first_;
  const Instruction* end_;
  SmallPtrSet<const BasicBlock*, 32> to_end_;
};

// What an instruction does with a slot.
enum class Access { none, reads, writes, begins };

Access access_of(const Instruction& instruction, const AllocaInst& slot,
                 const SmallPtrSetImpl<const Value*>& pointers) {
  if (&instruction == &slot) return Access::begins;  // of a size that is not constant
  const auto inside = [&](const Value* value) { return pointers.contains(value); };
  if (const auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
    if (intrinsic->getIntrinsicID() == Intrinsic::lifetime_start)
      return inside(intrinsic->getArgOperand(1)) ? Access::begins : Access::none;
    if (intrinsic->isLifetimeStartOrEnd() || intrinsic->isAssumeLikeIntrinsic()) return Access::none;
  }
  if (const auto* store = dyn_cast<StoreInst>(&instruction); store != nullptr && !inside(store->getValueOperand())) {
    if (!inside(store->getPointerOperand())) return Access::none;
    const DataLayout& layout = slot.getDataLayout();
    const auto size = slot.getAllocationSize(layout);
    const bool whole = store->getPointerOperand()->stripPointerCasts() == &slot && size.has_value() &&
                       layout.getTypeStoreSize(store->getValueOperand()->getType()) == *size;
    return whole ? Access::begins : Access::writes;
  }
  if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(instruction) && inside(&instruction)) return Access::none;
  return any_of(instruction.operands(), inside) ? Access::reads : Access::none;
}

// The pointers into `slot`.
SmallPtrSet<const Value*, 16> pointers_into(const AllocaInst& slot) {
  SmallPtrSet<const Value*, 16> pointers;
  SmallVector<const Value*, 16> pending{&slot};
  while (!pending.empty()) {
    const Value* pointer = pending.pop_back_val();
    if (!pointers.insert(pointer).second) continue;
    for (const User* user : pointer->users())
      if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(user) && user->getType()->isPointerTy())
        pending.push_back(user);
  }
  return pointers;
}

bool carries(const RangeCode& code, const AllocaInst& slot) {
  const auto pointers = pointers_into(slot);
  bool read_first = false;
  bool changed = false;
  code.walk([&](const Instruction& instruction) {
    const Access access = access_of(instruction, slot, pointers);
    read_first |= access == Access::reads;
    return access != Access::begins;
  });
  if (!read_first) return false;
  code.walk([&](const Instruction& instruction) {
    const Access access = access_of(instruction, slot, pointers);
    changed |= access != Access::none && !isa<LoadInst>(instruction);
    return true;
  });
  return changed;
}

// The runtime's own slots, and the copies that it is given the addresses of to combine them.
SmallPtrSet<const Value*, 16> known_slots(const LoopShape& shape) {
  SmallPtrSet<const Value*, 16> known;
  for (const CallBase* call : {shape.init, shape.fini, shape.next})
    if (call != nullptr)
      for (const Use& argument : call->args()) known.insert(argument->stripPointerCasts());
  for (const Instruction& instruction : instructions(*shape.function)) {
    if (classify(instruction) != Call::reduce) continue;
    const Value* list = getUnderlyingObject(cast<CallBase>(instruction).getArgOperand(4), 0);
    for (const Instruction& other : instructions(*shape.function)) {
      const auto* store = dyn_cast<StoreInst>(&other);
      if (store != nullptr && getUnderlyingObject(store->getPointerOperand(), 0) == list)
        known.insert(getUnderlyingObject(store->getValueOperand(), 0));
    }
  }
  return known;
}

}  // namespace

bool carries_state(const LoopShape& shape) {
  const RangeCode code(shape);
  const auto known = known_slots(shape);
  return any_of(instructions(*shape.function), [&](const Instruction& instruction) {
    const auto* slot = dyn_cast<AllocaInst>(&instruction);
    return slot != nullptr && !known.contains(slot) && carries(code, *slot);
  });
}

}  // namespace weft::pass
