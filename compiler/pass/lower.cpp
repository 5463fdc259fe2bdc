// SPDX-License-Identifier: Apache-2.0
#include "lower.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "calls.h"
#include "fork_site.h"
#include "idle_member.h"
#include "loop_shape.h"
#include "range_body.h"
#include "trip_count.h"

namespace weft::pass {
namespace {

using namespace llvm;

SmallVector<CallBase*, 8> forks_of(Function& function) {
  SmallVector<CallBase*, 8> forks;
  for (Instruction& instruction : instructions(function))
    if (classify(instruction) == Call::fork) forks.push_back(cast<CallBase>(&instruction));
  return forks;
}

Function* region_of(const CallBase& fork) {
  if (fork.arg_size() < first_capture(fork)) return nullptr;
  auto* region = dyn_cast<Function>(fork.getArgOperand(2)->stripPointerCasts());
  return region == nullptr || region->isDeclaration() ? nullptr : region;
}

bool passes_pointers(const CallBase& fork, const Function& region) {
  const DataLayout& layout = region.getDataLayout();
  if (fork.arg_size() - first_capture(fork) != region.arg_size() - 2) return false;
  for (unsigned i = 2; i < region.arg_size(); ++i) {
    Type* type = region.getArg(i)->getType();
    if (type != fork.getArgOperand(first_capture(fork) + i - 2)->getType()) return false;
    if (!type->isPointerTy() && !type->isIntegerTy(layout.getPointerSizeInBits())) return false;
  }
  return true;
}

}  // namespace

// With -g clang puts the region into a function of its own, which the outlined function calls.
void ModuleLowering::fold_debug_function(Function& region) {
  for (Instruction& instruction : instructions(region)) {
    if (!callee_name(instruction).contains("omp_outlined_debug__")) continue;
    auto& call = cast<CallBase>(instruction);
    Function* inner = call.getCalledFunction();
    InlineFunctionInfo info;
    if (inner == nullptr || !InlineFunction(call, info).isSuccess()) return;
    changed_ = true;
    if (inner->hasLocalLinkage() && inner->use_empty()) {
      analyses_.clear(*inner, inner->getName());
      inner->eraseFromParent();
    }
    return;
  }
}

Outcome ModuleLowering::lower_region(CallBase& fork, Function& region) {
  LoopShape shape = find_loop(region);
  Outcome outcome{Lowering::none, shape.construct, shape.obstacle};
  if (shape.init == nullptr || settings_.most == Lowering::none) return outcome;
  if (!passes_pointers(fork, region)) {
    outcome.reason = "the region's captures are not addresses";
    return outcome;
  }
  Function* trip_count = make_trip_count(shape, analyses_, outcome.reason);
  if (trip_count == nullptr) return outcome;
  outcome.reason = shape.obstacle;
  if (outcome.reason.empty() && !isa<CallInst>(fork)) outcome.reason = "exceptions may leave the region";
  if (outcome.reason.empty() && settings_.most == Lowering::hint) outcome.reason = "asked for by WEFTCC_LOWER";
  if (outcome.reason.empty()) outcome.reason = trace_of_idle_member(shape, analyses_);
  changed_ = true;
  if (outcome.reason.empty()) {
    offer_ranges(cast<CallInst>(fork), shape, trip_count, make_range_body(shape));
    outcome.lowering = Lowering::range;
  } else {
    announce_loop(fork, shape, trip_count);
    outcome.lowering = Lowering::hint;
  }
  return outcome;
}

// Regions inside of a region come first, so that copies of the outer one carry them as they are then.
void ModuleLowering::lower(CallBase& fork) {
  if (!seen_.insert(&fork).second) return;
  Function* region = region_of(fork);
  if (region == nullptr) return;
  for (CallBase* inner : forks_of(*region)) lower(*inner);
  report(fork, lower_region(fork, *region), settings_);
}

bool ModuleLowering::run() {
  // Before forks are collected: those of functions that are folded away go with them.
  SmallSetVector<Function*, 16> regions;
  for (Function& function : module_)
    for (CallBase* fork : forks_of(function))
      if (Function* region = region_of(*fork)) regions.insert(region);
  for (Function* region : regions) fold_debug_function(*region);
  SmallVector<CallBase*, 16> forks;
  for (Function& function : module_) forks.append(forks_of(function));
  for (CallBase* fork : forks) lower(*fork);
  return changed_;
}

}  // namespace weft::pass
