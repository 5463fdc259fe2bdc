// SPDX-License-Identifier: Apache-2.0
#include "range_body.h"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "calls.h"
#include "clone.h"
#include "record.h"

namespace weft::pass {
namespace {

using namespace llvm;

// The loop's slots, in the copy, and the first value of its counter.
struct Bounds {
  IntegerType* type;
  Value* base;
  Value* lower;
  Value* upper;
  Value* stride;
  Value* last;
};

void fetch_captures(IRBuilder<>& builder, const Function& region, Value* captures, SmallVectorImpl<Value*>& values) {
  for (unsigned i = 2; i < region.arg_size(); ++i) {
    const Argument* argument = region.getArg(i);
    Value* place = builder.CreateConstInBoundsGEP1_32(builder.getPtrTy(), captures, i - 2);
    LoadInst* value = builder.CreateLoad(argument->getType(), place);
    MDNode* nothing = MDNode::get(builder.getContext(), {});
    const auto number = [&](uint64_t n) {
      return MDNode::get(builder.getContext(), ConstantAsMetadata::get(builder.getInt64(n)));
    };
    if (argument->hasNonNullAttr()) value->setMetadata(LLVMContext::MD_nonnull, nothing);
    if (argument->getDereferenceableBytes() != 0)
      value->setMetadata(LLVMContext::MD_dereferenceable, number(argument->getDereferenceableBytes()));
    if (const auto align = argument->getParamAlign(); align && argument->getType()->isPointerTy())
      value->setMetadata(LLVMContext::MD_align, number(align->value()));
    values.push_back(value);
  }
}

Value* load_field(IRBuilder<>& builder, Value* range, unsigned field, Type* type) {
  return builder.CreateLoad(type, builder.CreateStructGEP(range_type(builder.getContext()), range, field));
}

// What the standard interface would be told of the loop: see standard_region.h.
void store_loop(IRBuilder<>& builder, const LoopShape& shape, CallBase& init, Value* range) {
  StructType* type = range_type(builder.getContext());
  Value* chunk = shape.dispatched ? chunk_of(builder, shape, init) : nullptr;
  if (chunk != nullptr) builder.CreateStore(chunk, builder.CreateStructGEP(type, range, kRangeBegin));
  builder.CreateStore(iterations_of(builder, shape, init), builder.CreateStructGEP(type, range, kRangeEnd));
}

// 1 when the member has got more iterations.
Value* call_next(IRBuilder<>& builder, Value* range) {
  Value* next = load_field(builder, range, kRangeNext, builder.getPtrTy());
  return builder.CreateCall(FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false), next, {range});
}

void store_bounds(IRBuilder<>& builder, Value* range, const Bounds& bounds) {
  const auto shifted = [&](unsigned field) {
    Value* wide = load_field(builder, range, field, builder.getInt64Ty());
    return builder.CreateAdd(builder.CreateTrunc(wide, bounds.type), bounds.base);
  };
  builder.CreateStore(shifted(kRangeBegin), bounds.lower);
  builder.CreateStore(builder.CreateSub(shifted(kRangeEnd), ConstantInt::get(bounds.type, 1)), bounds.upper);
  builder.CreateStore(load_field(builder, range, kRangeLast, builder.getInt32Ty()), bounds.last);
}

// The code between `init` and `fini` becomes a loop over ranges. A loop over the program's own chunks inside of it ends
// after the first: its stride leads past the last iteration.
void loop_over_ranges(CallBase* init, CallBase* fini, Value* range, Bounds bounds) {
  IRBuilder<> builder(init);
  bounds.base = builder.CreateLoad(bounds.type, bounds.lower);
  Value* count = builder.CreateSub(builder.CreateLoad(bounds.type, bounds.upper), bounds.base);
  count = builder.CreateAdd(count, ConstantInt::get(bounds.type, 1));

  BasicBlock* before = init->getParent();
  BasicBlock* loop = SplitBlock(before, init);
  BasicBlock* end = fini->getParent();
  BasicBlock* behind = SplitBlock(end, fini);
  BasicBlock* head = BasicBlock::Create(init->getContext(), "weft.next", init->getFunction(), loop);
  BasicBlock* fetched = BasicBlock::Create(init->getContext(), "weft.range", init->getFunction(), loop);
  before->getTerminator()->setSuccessor(0, head);
  end->getTerminator()->setSuccessor(0, head);

  builder.SetInsertPoint(head);
  builder.SetCurrentDebugLocation(init->getDebugLoc());
  builder.CreateCondBr(builder.CreateIsNotNull(call_next(builder, range)), fetched, behind);
  builder.SetInsertPoint(fetched);
  store_bounds(builder, range, bounds);
  builder.CreateStore(count, bounds.stride);
  builder.CreateBr(loop);
  init->eraseFromParent();
  fini->eraseFromParent();
}

void fetch_in_place(CallBase* init, CallBase* next, Value* range, Bounds bounds) {
  bounds.base = init->getArgOperand(3);
  IRBuilder<> builder(next);
  Value* more = call_next(builder, range);
  Instruction* then = SplitBlockAndInsertIfThen(builder.CreateIsNotNull(more), next->getIterator(), false);
  builder.SetInsertPoint(then);
  builder.SetCurrentDebugLocation(next->getDebugLoc());
  store_bounds(builder, range, bounds);
  builder.CreateStore(ConstantInt::get(bounds.type, 1), bounds.stride);
  next->replaceAllUsesWith(more);
  next->eraseFromParent();
  init->eraseFromParent();
}

// The forms that do not wait: the region's end does. With atomic updates those have no end.
void stop_waiting(Function& body) {
  const DominatorTree dominators(body);
  SmallVector<CallBase*, 4> reduces, ends, gone;
  for (Instruction& instruction : instructions(body)) {
    const StringRef name = callee_name(instruction);
    if (name == "__kmpc_reduce") reduces.push_back(cast<CallBase>(&instruction));
    if (name == "__kmpc_end_reduce") ends.push_back(cast<CallBase>(&instruction));
    const Call call = classify(instruction);
    if (call == Call::barrier || call == Call::dispatch_deinit) gone.push_back(cast<CallBase>(&instruction));
  }
  for (CallBase* reduce : reduces) {
    for (User* user : reduce->users()) {
      auto* choice = dyn_cast<SwitchInst>(user);
      if (choice == nullptr) continue;
      const auto atomics = choice->findCaseValue(cast<ConstantInt>(ConstantInt::get(reduce->getType(), 2)));
      if (atomics == choice->case_default()) continue;
      for (CallBase* end : ends)
        if (dominators.dominates(atomics->getCaseSuccessor(), end->getParent())) gone.push_back(end);
    }
  }
  const auto without_waiting = [&](CallBase* call) {
    const std::string name = (callee_name(*call) + "_nowait").str();
    call->setCalledFunction(body.getParent()->getOrInsertFunction(name, call->getFunctionType(),
                                                                  call->getCalledFunction()->getAttributes()));
  };
  for (CallBase* reduce : reduces) without_waiting(reduce);
  for (CallBase* end : ends)
    if (!is_contained(gone, end)) without_waiting(end);
  for (CallBase* call : gone) call->eraseFromParent();
}

// The barrier goes, but tasks may use the member's variables: they end where it was.
void wait_for_tasks(const LoopShape& shape, CallBase* barrier, Instruction* begin, Value* number) {
  Module& module = *shape.function->getParent();
  IRBuilder<> builder(begin);
  const auto call = [&](const char* name) {
    const FunctionCallee function =
        module.getOrInsertFunction(name, builder.getVoidTy(), builder.getPtrTy(), builder.getInt32Ty());
    builder.CreateCall(function, {shape.location, number});
  };
  call("__kmpc_taskgroup");
  builder.SetInsertPoint(barrier);
  call("__kmpc_end_taskgroup");
}

void drop_unused_queries(Function& body) {
  for (Instruction& instruction : make_early_inc_range(instructions(body)))
    if (callee_name(instruction) == "__kmpc_global_thread_num" && instruction.use_empty())
      instruction.eraseFromParent();
}

// Whether calls are left that take the number by which the runtime knows the thread.
bool needs_thread_number(const LoopShape& shape) {
  if (shape.task_barrier != nullptr) return true;
  for (const Instruction& instruction : instructions(*shape.function)) {
    const Call call = classify(instruction);
    if (call == Call::member || call == Call::reduce || call == Call::fork) return true;
  }
  return false;
}

}  // namespace

Function* make_range_body(const LoopShape& shape, bool replaces) {
  Function& region = *shape.function;
  LLVMContext& context = region.getContext();
  Type* pointer = PointerType::getUnqual(context);
  Function* body = Function::Create(FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false),
                                    GlobalValue::InternalLinkage, region.getName() + ".ranges", region.getParent());
  Argument* range = body->getArg(0);
  range->setName("range");
  IRBuilder<> builder(BasicBlock::Create(context, "weft.entry", body));
  SmallVector<Value*, 8> captures;
  fetch_captures(builder, region, body->getArg(1), captures);
  Value* number = nullptr;
  if (needs_thread_number(shape)) {
    const FunctionCallee query =
        region.getParent()->getOrInsertFunction("__kmpc_global_thread_num", builder.getInt32Ty(), builder.getPtrTy());
    number = builder.CreateCall(query, {shape.location});
  } else {
    number = load_field(builder, range, kRangeNumber, builder.getInt32Ty());
  }
  ValueToValueMapTy copies;
  if (replaces)
    move_region(*body, region, captures, number);
  else
    copy_region(*body, region, captures, number, copies);
  body->addParamAttr(0, Attribute::NonNull);
  body->addParamAttr(0, Attribute::NoAlias);
  body->addParamAttr(1, Attribute::ReadOnly);

  const auto copied = [&](Value* original) {
    const auto found = copies.find(original);
    return found == copies.end() ? original : static_cast<Value*>(found->second);
  };
  auto* init = cast<CallBase>(copied(shape.init));
  IRBuilder<> at_init(init);
  store_loop(at_init, shape, *init, range);
  Bounds bounds{};
  bounds.type = IntegerType::get(context, shape.bits);
  bounds.stride = copied(shape.stride_slot());
  bounds.last = copied(shape.last_slot());
  if (shape.dispatched) {
    auto* next = cast<CallBase>(copied(shape.next));
    bounds.lower = next->getArgOperand(3);
    bounds.upper = next->getArgOperand(4);
    fetch_in_place(init, next, range, bounds);
  } else {
    bounds.lower = init->getArgOperand(4);
    bounds.upper = init->getArgOperand(5);
    loop_over_ranges(init, cast<CallBase>(copied(shape.fini)), range, bounds);
  }
  if (shape.task_barrier != nullptr)
    wait_for_tasks(shape, cast<CallBase>(copied(shape.task_barrier)), body->getEntryBlock().getTerminator(), number);
  stop_waiting(*body);
  drop_unused_queries(*body);
  return body;
}

}  // namespace weft::pass
