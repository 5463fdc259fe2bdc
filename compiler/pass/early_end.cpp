// SPDX-License-Identifier: Apache-2.0
#include "early_end.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/Local.h>

namespace weft::pass {
namespace {

using namespace llvm;

// What may be computed earlier, without a division by zero that the program would never have come to.
bool is_arithmetic(const Instruction& instruction) {
  return isa<BinaryOperator, CastInst, CmpInst, SelectInst>(instruction) && isSafeToSpeculativelyExecute(&instruction);
}

// The arithmetic that makes `value`, and the instructions that it starts from.
struct Expression {
  SmallSetVector<Instruction*, 16> arithmetic;  // users before what they use
  SmallSetVector<Instruction*, 8> sources;
};

Expression expression_of(Value* value) {
  Expression expression;
  SmallVector<Value*, 16> pending{value};
  while (!pending.empty()) {
    auto* instruction = dyn_cast<Instruction>(pending.pop_back_val());
    if (instruction == nullptr) continue;
    if (!is_arithmetic(*instruction)) {
      expression.sources.insert(instruction);
    } else if (expression.arithmetic.insert(instruction)) {
      pending.append(instruction->op_begin(), instruction->op_end());
    }
  }
  return expression;
}

Instruction* latest_of(const Expression& expression, const DominatorTree& dominators) {
  Instruction* latest = nullptr;
  for (Instruction* source : expression.sources)
    if (latest == nullptr || dominators.dominates(latest, source)) latest = source;
  return latest;
}

// Whether the function may return elsewhere once control is in `from`, or let an exception out.
bool may_leave_elsewhere(BasicBlock* from, const BasicBlock* end) {
  SmallPtrSet<BasicBlock*, 16> seen;
  SmallVector<BasicBlock*, 16> pending{from};
  while (!pending.empty()) {
    BasicBlock* block = pending.pop_back_val();
    if (block == end || !seen.insert(block).second) continue;
    if (isa<ReturnInst, ResumeInst>(block->getTerminator())) return true;
    pending.append(succ_begin(block), succ_end(block));
  }
  return false;
}

// The first place behind `latest` from where control is sure to come to `end`.
Instruction* earliest_place(ReturnInst* end, Instruction* latest, const DominatorTree& dominators) {
  Instruction* place = end;
  for (auto* node = dominators.getNode(end->getParent()); node != nullptr; node = node->getIDom()) {
    BasicBlock* block = node->getBlock();
    if (may_leave_elsewhere(block, end->getParent())) break;
    const bool has_latest = latest != nullptr && latest->getParent() == block;
    if (has_latest && latest->isTerminator()) break;
    place = has_latest && !isa<PHINode>(latest) ? latest->getNextNode() : &*block->getFirstInsertionPt();
    if (has_latest) break;
  }
  return place;
}

void move_arithmetic(const Expression& expression, Instruction* place, const DominatorTree& dominators) {
  SmallVector<Instruction*, 16> late;
  for (Instruction* instruction : expression.arithmetic)
    if (!dominators.dominates(instruction, place)) late.push_back(instruction);
  sort(late, [&](Instruction* a, Instruction* b) { return dominators.dominates(a, b); });
  for (Instruction* instruction : late) instruction->moveBefore(place);
}

}  // namespace

void return_early(ReturnInst* end) {
  const DominatorTree dominators(*end->getFunction());
  const Expression expression = expression_of(end->getReturnValue());
  for (Instruction* source : expression.sources)
    if (!dominators.dominates(source, end)) return;
  Instruction* place = earliest_place(end, latest_of(expression, dominators), dominators);
  while (expression.arithmetic.contains(place)) place = place->getNextNode();
  if (place == end) return;
  move_arithmetic(expression, place, dominators);
  Value* result = end->getReturnValue();
  BasicBlock* block = place->getParent();
  changeToUnreachable(place);
  Instruction* stop = block->getTerminator();
  ReturnInst::Create(block->getContext(), result, stop->getIterator());
  stop->eraseFromParent();
  removeUnreachableBlocks(*block->getParent());
}

}  // namespace weft::pass
