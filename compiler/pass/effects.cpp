// SPDX-License-Identifier: Apache-2.0
#include "effects.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "calls.h"

namespace weft::pass {
namespace {

using namespace llvm;

bool is_own(const Value* pointer) {
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, 0);
  return all_of(objects, [](const Value* object) { return isa<AllocaInst>(object); });
}

bool stays_own(const IntrinsicInst& intrinsic) {
  if (intrinsic.isLifetimeStartOrEnd() || intrinsic.isAssumeLikeIntrinsic()) return true;
  if (const auto* memory = dyn_cast<AnyMemIntrinsic>(&intrinsic))
    return !memory->isVolatile() && is_own(memory->getDest());
  return intrinsic.getIntrinsicID() == Intrinsic::stacksave || intrinsic.getIntrinsicID() == Intrinsic::stackrestore;
}

bool stays_own(const CallBase& call) {
  if (!call.onlyAccessesArgMemory() || !call.doesNotThrow() || !call.willReturn()) return false;
  for (const Use& argument : call.args())
    if (argument->getType()->isPointerTy() && !is_own(argument.get())) return false;
  return true;
}

bool stays_own(const Instruction& instruction) {
  if (!instruction.mayHaveSideEffects()) return true;
  // How often the bounds of a loop are evaluated is left open (OpenMP 5.2, section 4.4.1).
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) return !load->isAtomic();
  if (const auto* store = dyn_cast<StoreInst>(&instruction))
    return !store->isVolatile() && is_own(store->getPointerOperand());
  if (const auto* update = dyn_cast<AtomicRMWInst>(&instruction)) return is_own(update->getPointerOperand());
  if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) return is_own(exchange->getPointerOperand());
  if (const auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction)) return stays_own(*intrinsic);
  const auto* call = dyn_cast<CallBase>(&instruction);
  return call != nullptr && stays_own(*call);
}

std::string describe(const Instruction& instruction) {
  const StringRef name = callee_name(instruction);
  if (!name.empty()) return "calls " + demangle(std::string_view(name.data(), name.size()));
  if (isa<CallBase>(instruction)) return "an indirect call";
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) return "an atomic update";
  if (isa<StoreInst>(instruction)) return "a store to shared memory";
  return std::string("side effect: ") + instruction.getOpcodeName();
}

std::string effect_of(Function& function, bool queries) {
  for (Instruction& instruction : instructions(function)) {
    if (classify(instruction) == Call::query) {
      if (!queries) return "uses " + callee_name(instruction).str();
      continue;
    }
    if (!stays_own(instruction)) return describe(instruction);
  }
  return {};
}

}  // namespace

std::string visible_effect(Sample& sample, bool queries) {
  sample.simplify(false);
  if (effect_of(sample.function(), queries).empty()) return {};
  sample.simplify(true);
  return effect_of(sample.function(), queries);
}

}  // namespace weft::pass
