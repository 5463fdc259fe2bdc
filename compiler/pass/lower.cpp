// SPDX-License-Identifier: Apache-2.0
#include "lower.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "calls.h"
#include "fork_site.h"
#include "idle_member.h"
#include "loop_shape.h"
#include "range_body.h"
#include "standard_region.h"
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
    if (inner == nullptr || !isInlineViable(*inner).isSuccess() || !InlineFunction(call, info).isSuccess()) return;
    changed_ = true;
    if (inner->hasLocalLinkage() && inner->use_empty()) {
      analyses_.clear(*inner, inner->getName());
      inner->eraseFromParent();
    }
    return;
  }
}

ModuleLowering::Plan ModuleLowering::plan_region(CallBase& fork, Function& region) {
  Plan plan{find_loop(region), {}, {}};
  const LoopShape& shape = plan.shape;
  std::string& reason = plan.outcome.reason;
  plan.outcome.construct = shape.construct;
  reason = shape.obstacle;
  if (shape.init == nullptr || settings_.most == Lowering::none) return plan;
  if (!passes_pointers(fork, region)) {
    reason = "the region's captures are not addresses";
    return plan;
  }
  plan.trip_count = make_trip_count(shape, analyses_, reason);
  if (plan.trip_count.iterations == nullptr) return plan;
  reason = shape.obstacle;
  if (reason.empty() && !isa<CallInst>(fork)) reason = "exceptions may leave the region";
  if (reason.empty() && settings_.most == Lowering::hint) reason = "asked for by WEFTCC_LOWER";
  if (reason.empty()) reason = trace_of_idle_member(shape, analyses_);
  plan.outcome.lowering = reason.empty() ? Lowering::range : Lowering::hint;
  return plan;
}

void ModuleLowering::run_in_ranges(CallInst& fork, const Plan& plan) {
  const LoopShape& shape = plan.shape;
  const bool replaces = is_replaceable(shape, fork);
  Function* body = make_range_body(shape, replaces);
  if (!replaces) {
    offer_ranges(fork, shape, plan.trip_count, body, nullptr);
    return;
  }
  offer_ranges(fork, shape, plan.trip_count, body, make_standard_region(shape, body));
  fork.removeFromParent();
  fork.dropAllReferences();
  replaced_forks_.push_back(&fork);
  redirect_calls(shape, body);
  replaced_regions_.push_back(shape.function);
}

void ModuleLowering::erase_replaced() {
  for (CallInst* fork : replaced_forks_) fork->deleteValue();
  for (Function* region : replaced_regions_) {
    analyses_.clear(*region, region->getName());
    region->eraseFromParent();
  }
}

// Regions inside of a region come first, so that copies of the outer one carry them as they are then.
void ModuleLowering::lower(CallBase& fork) {
  if (!seen_.insert(&fork).second) return;
  Function* region = region_of(fork);
  if (region == nullptr) return;
  for (CallBase* inner : forks_of(*region)) lower(*inner);
  const Plan plan = plan_region(fork, *region);
  report(fork, plan.outcome, settings_);
  if (plan.outcome.lowering == Lowering::none) return;
  changed_ = true;
  if (plan.outcome.lowering == Lowering::range)
    run_in_ranges(cast<CallInst>(fork), plan);
  else
    announce_loop(fork, plan.shape, plan.trip_count);
}

bool ModuleLowering::run() {
  // Most modules of a program have no region.
  if (module_.getFunction("__kmpc_fork_call") == nullptr && module_.getFunction("__kmpc_fork_call_if") == nullptr)
    return false;
  // Before forks are collected: those of functions that are folded away go with them.
  SmallSetVector<Function*, 16> regions;
  for (Function& function : module_)
    for (CallBase* fork : forks_of(function))
      if (Function* region = region_of(*fork)) regions.insert(region);
  for (Function* region : regions) fold_debug_function(*region);
  SmallVector<CallBase*, 16> forks;
  for (Function& function : module_) forks.append(forks_of(function));
  for (CallBase* fork : forks) lower(*fork);
  erase_replaced();
  return changed_;
}

}  // namespace weft::pass
