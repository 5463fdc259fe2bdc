// SPDX-License-Identifier: Apache-2.0
#include "reduction_copies.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <set>

#include "calls.h"
#include "loop_shape.h"

namespace weft::pass {
namespace {

using namespace llvm;

constexpr char kUnclear[] = "the reduction's private copies cannot be followed";
constexpr char kChanged[] = "a reduction variable is changed outside of the loop";

// Every use of a pointer into `object`.
void collect_uses(Value* object, SmallVectorImpl<Use*>& uses) {
  SmallVector<Value*, 16> pending{object};
  SmallPtrSet<Value*, 16> seen;
  while (!pending.empty()) {
    Value* pointer = pending.pop_back_val();
    if (!seen.insert(pointer).second) continue;
    for (Use& use : pointer->uses()) {
      if (isa<GetElementPtrInst, PHINode, SelectInst, CastInst>(use.getUser()) && use->getType()->isPointerTy() &&
          use.getUser()->getType()->isPointerTy())
        pending.push_back(use.getUser());
      else
        uses.push_back(&use);
    }
  }
}

// The writes to one private copy. The compiler's own is the first one of each place.
class Writes {
 public:
  explicit Writes(const DataLayout& layout) : layout_(layout) {}

  // False: a place is written again, or might be.
  bool add(const Value* pointer) {
    APInt offset(layout_.getIndexTypeSizeInBits(pointer->getType()), 0);
    const Value* base = pointer->stripAndAccumulateConstantOffsets(layout_, offset, true);
    if (!isa<AllocaInst>(base)) return add_whole();
    return !whole_ && places_.insert(offset.getSExtValue()).second;
  }
  bool add_whole() {
    if (whole_ || !places_.empty()) return false;
    whole_ = true;
    return true;
  }

 private:
  const DataLayout& layout_;
  std::set<int64_t> places_;
  bool whole_ = false;
};

// Whether `use` is a write of the copy that `writes` has no objection to, or none at all. `list`: the slots in which
// the compiler passes the copies' addresses.
bool is_harmless(const Use& use, const Value* list, Writes& writes) {
  auto* user = cast<Instruction>(use.getUser());
  if (isa<LoadInst, ICmpInst>(user)) return true;
  if (auto* store = dyn_cast<StoreInst>(user)) {
    if (store->getValueOperand() == use.get()) return getUnderlyingObject(store->getPointerOperand(), 0) == list;
    return writes.add(store->getPointerOperand());
  }
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(user)) {
    if (intrinsic->isLifetimeStartOrEnd() || intrinsic->isAssumeLikeIntrinsic()) return true;
    if (auto* transfer = dyn_cast<AnyMemTransferInst>(intrinsic); transfer && transfer->getRawDest() != use.get())
      return true;
    return isa<AnyMemIntrinsic>(intrinsic) && writes.add_whole();
  }
  return isa<CallBase>(user) && writes.add_whole();
}

std::string check_copy(Value* copy, const Value* list, const SmallPtrSet<BasicBlock*, 8>& combining) {
  Writes writes(cast<Instruction>(copy)->getDataLayout());
  SmallVector<Use*, 16> uses;
  collect_uses(copy, uses);
  for (Use* use : uses) {
    auto* user = cast<Instruction>(use->getUser());
    if (combining.contains(user->getParent()) || classify(*user) == Call::reduce) continue;
    if (!is_harmless(*use, list, writes)) return kChanged;
  }
  return {};
}

std::string check_list(CallBase& reduce, const SmallPtrSet<BasicBlock*, 8>& combining) {
  auto* list = const_cast<Value*>(getUnderlyingObject(reduce.getArgOperand(4), 0));
  if (!isa<AllocaInst>(list)) return kUnclear;
  SmallVector<Use*, 16> uses;
  collect_uses(list, uses);
  for (Use* use : uses) {
    auto* store = dyn_cast<StoreInst>(use->getUser());
    if (store == nullptr || store->getPointerOperand() != use->get()) continue;
    // The length of an array is passed among the addresses.
    if (isa<IntToPtrInst>(store->getValueOperand())) continue;
    auto* copy = const_cast<Value*>(getUnderlyingObject(store->getValueOperand(), 0));
    if (!isa<AllocaInst>(copy)) return kUnclear;
    std::string trace = check_copy(copy, list, combining);
    if (!trace.empty()) return trace;
  }
  return {};
}

}  // namespace

std::string changed_reduction(Function& region) {
  const auto combining = combining_blocks(region);
  for (Instruction& instruction : instructions(region)) {
    if (classify(instruction) != Call::reduce) continue;
    std::string trace = check_list(cast<CallBase>(instruction), combining);
    if (!trace.empty()) return trace;
  }
  return {};
}

}  // namespace weft::pass
