// SPDX-License-Identifier: Apache-2.0
#include "standard_region.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "calls.h"
#include "clone.h"
#include "record.h"

namespace weft::pass {
namespace {

using namespace llvm;

// What a member has that fetches ranges by the standard interface: its weft_range, which the functions below get, and
// what they need to know.
enum Field : unsigned { kRange, kStride, kLocation, kNumber, kSchedule, kBegun };

StructType* member_type(LLVMContext& context) {
  Type* pointer = PointerType::getUnqual(context);
  Type* wide = Type::getInt64Ty(context);
  Type* narrow = Type::getInt32Ty(context);
  return StructType::get(context, {range_type(context), wide, pointer, narrow, narrow, narrow});
}

// Functions that every object file may have, once each in the program. Their names change when they do.
class SharedFunction {
 public:
  SharedFunction(const LoopShape& shape, const char* name, Type* result, ArrayRef<Type*> arguments)
      : module_(*shape.function->getParent()), builder_(module_.getContext()) {
    function_ = module_.getFunction(name);
    if (function_ != nullptr) return;
    is_new_ = true;
    function_ =
        Function::Create(FunctionType::get(result, arguments, false), GlobalValue::LinkOnceODRLinkage, name, module_);
    function_->setVisibility(GlobalValue::HiddenVisibility);
    function_->setComdat(module_.getOrInsertComdat(name));
    for (const auto attribute : {Attribute::NoInline, Attribute::OptimizeForSize, Attribute::MinSize})
      function_->addFnAttr(attribute);
    // Nothing else of the region's: another object file's copy may be the one that is linked.
    for (const Attribute attribute : shape.function->getAttributes().getFnAttrs())
      if (attribute.hasAttribute(Attribute::UWTable) || attribute.hasAttribute("frame-pointer"))
        function_->addFnAttr(attribute);
    builder_.SetInsertPoint(block("entry"));
  }

  bool is_new() const { return is_new_; }
  Function* function() { return function_; }
  Argument* argument(unsigned i) { return function_->getArg(i); }
  IRBuilder<>& builder() { return builder_; }
  BasicBlock* block(const char* name) { return BasicBlock::Create(module_.getContext(), name, function_); }
  Value* place(Value* member, unsigned field) {
    return builder_.CreateStructGEP(member_type(module_.getContext()), member, field);
  }
  Value* place_of_range(Value* member, unsigned field) {
    return builder_.CreateStructGEP(range_type(module_.getContext()), member, field);
  }
  Value* load(Type* type, Value* place) { return builder_.CreateLoad(type, place); }
  void call(const char* name, ArrayRef<Value*> arguments) { call(name, builder_.getVoidTy(), arguments); }
  CallInst* call(const char* name, Type* result, ArrayRef<Value*> arguments) {
    SmallVector<Type*, 9> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    return builder_.CreateCall(module_.getOrInsertFunction(name, FunctionType::get(result, types, false)), arguments);
  }

 private:
  Module& module_;
  IRBuilder<> builder_;
  Function* function_;
  bool is_new_ = false;
};

// The bounds of the standard interface are inclusive.
void pass_end_on(SharedFunction& next, Value* member) {
  IRBuilder<>& builder = next.builder();
  Value* end = next.place_of_range(member, kRangeEnd);
  builder.CreateStore(builder.CreateAdd(next.load(builder.getInt64Ty(), end), builder.getInt64(1)), end);
}

// Goes on in a block for the first call; returns the one for the others.
BasicBlock* branch_at_first_call(SharedFunction& next, Value* member) {
  IRBuilder<>& builder = next.builder();
  Value* begun = next.place(member, kBegun);
  BasicBlock* first = next.block("first");
  BasicBlock* others = next.block("others");
  builder.CreateCondBr(builder.CreateIsNull(next.load(builder.getInt32Ty(), begun)), first, others);
  builder.SetInsertPoint(first);
  builder.CreateStore(builder.getInt32(1), begun);
  return others;
}

// What both ways to fetch ranges begin with. The body has left the loop's chunk size in `begin`, and the number of
// iterations in `end`. Goes on in `loop`, at the first call of a member whose loop has iterations.
struct Next {
  Next(SharedFunction& next, LLVMContext& context)
      : member(next.argument(0)),
        location(next.load(PointerType::getUnqual(context), next.place(member, kLocation))),
        number(next.load(next.builder().getInt32Ty(), next.place(member, kNumber))),
        begin(next.place_of_range(member, kRangeBegin)),
        end(next.place_of_range(member, kRangeEnd)),
        others(branch_at_first_call(next, member)),
        some(next.block("some")),
        ended(next.block("ended")),
        none(next.block("none")),
        count(next.load(next.builder().getInt64Ty(), end)) {
    BasicBlock* loop = next.block("loop");
    next.builder().CreateCondBr(next.builder().CreateIsNull(count), none, loop);
    next.builder().SetInsertPoint(loop);
    schedule = next.load(next.builder().getInt32Ty(), next.place(member, kSchedule));
  }

  Value* member;
  Value* location;
  Value* number;
  Value* begin;
  Value* end;
  BasicBlock* others;
  BasicBlock* some;
  BasicBlock* ended;
  BasicBlock* none;
  Value* count;
  Value* schedule;
};

// What they end with: `call` tells the runtime, and there are no more ranges.
void end_loop(SharedFunction& next, const Next& at, const char* call) {
  IRBuilder<>& builder = next.builder();
  builder.SetInsertPoint(at.ended);
  next.call(call, {at.location, at.number});
  builder.CreateBr(at.none);
  builder.SetInsertPoint(at.none);
  builder.CreateRet(builder.getInt32(0));
}

Function* next_of_static(const LoopShape& shape) {
  LLVMContext& context = shape.function->getContext();
  SharedFunction next(shape, "weft.next_static.1", Type::getInt32Ty(context), {PointerType::getUnqual(context)});
  if (!next.is_new()) return next.function();
  IRBuilder<>& builder = next.builder();
  const Next at(next, context);
  Value* stride = next.place(at.member, kStride);
  builder.CreateStore(builder.getInt64(0), at.begin);
  builder.CreateStore(builder.CreateSub(at.count, builder.getInt64(1)), at.end);
  builder.CreateStore(builder.getInt64(1), stride);
  next.call("__kmpc_for_static_init_8u",
            {at.location, at.number, at.schedule, next.place_of_range(at.member, kRangeLast), at.begin, at.end, stride,
             builder.getInt64(1), builder.getInt64(1)});
  pass_end_on(next, at.member);
  // A runtime may round the last part up.
  builder.CreateStore(builder.CreateBinaryIntrinsic(Intrinsic::umin, next.load(builder.getInt64Ty(), at.end), at.count),
                      at.end);
  builder.CreateCondBr(
      builder.CreateICmpULT(next.load(builder.getInt64Ty(), at.begin), next.load(builder.getInt64Ty(), at.end)),
      at.some, at.ended);
  builder.SetInsertPoint(at.some);
  builder.CreateRet(builder.getInt32(1));

  builder.SetInsertPoint(at.others);
  builder.CreateBr(at.ended);
  end_loop(next, at, "__kmpc_for_static_fini");
  return next.function();
}

Function* next_of_dispatched(const LoopShape& shape) {
  LLVMContext& context = shape.function->getContext();
  SharedFunction next(shape, "weft.next_dispatched.1", Type::getInt32Ty(context), {PointerType::getUnqual(context)});
  if (!next.is_new()) return next.function();
  IRBuilder<>& builder = next.builder();
  const Next at(next, context);
  Value* chunk = next.load(builder.getInt64Ty(), at.begin);
  next.call("__kmpc_dispatch_init_8u", {at.location, at.number, at.schedule, builder.getInt64(0),
                                        builder.CreateSub(at.count, builder.getInt64(1)), builder.getInt64(1), chunk});
  builder.CreateBr(at.others);

  builder.SetInsertPoint(at.others);
  Value* more = next.call("__kmpc_dispatch_next_8u", builder.getInt32Ty(),
                          {at.location, at.number, next.place_of_range(at.member, kRangeLast), at.begin, at.end,
                           next.place(at.member, kStride)});
  builder.CreateCondBr(builder.CreateIsNotNull(more), at.some, at.ended);
  builder.SetInsertPoint(at.some);
  pass_end_on(next, at.member);
  builder.CreateRet(builder.getInt32(1));
  end_loop(next, at, "__kmpc_dispatch_deinit");
  return next.function();
}

// Runs a body for one member.
Function* run_member(const LoopShape& shape) {
  LLVMContext& context = shape.function->getContext();
  Type* pointer = PointerType::getUnqual(context);
  Type* narrow = Type::getInt32Ty(context);
  SharedFunction run(shape, "weft.run_member.1", Type::getVoidTy(context),
                     {pointer, pointer, pointer, pointer, pointer, narrow});
  if (!run.is_new()) return run.function();
  IRBuilder<>& builder = run.builder();
  AllocaInst* member = builder.CreateAlloca(member_type(context));
  Value* number = run.load(narrow, run.argument(0));
  builder.CreateStore(run.argument(4), run.place_of_range(member, kRangeNext));
  builder.CreateStore(builder.getInt32(0), run.place_of_range(member, kRangeLast));
  builder.CreateStore(number, run.place_of_range(member, kRangeNumber));
  builder.CreateStore(run.argument(1), run.place(member, kLocation));
  builder.CreateStore(number, run.place(member, kNumber));
  builder.CreateStore(run.argument(5), run.place(member, kSchedule));
  builder.CreateStore(builder.getInt32(0), run.place(member, kBegun));
  builder.CreateCall(FunctionType::get(builder.getVoidTy(), {pointer, pointer}, false), run.argument(2),
                     {member, run.argument(3)});
  builder.CreateRetVoid();
  return run.function();
}

Function* new_region(const LoopShape& shape, ArrayRef<Type*> arguments) {
  Function& region = *shape.function;
  auto* type = FunctionType::get(Type::getVoidTy(region.getContext()), arguments, false);
  Function* made = Function::Create(type, region.getLinkage(), "", region.getParent());
  made->setAttributes(AttributeList::get(region.getContext(), AttributeList::FunctionIndex,
                                         AttrBuilder(region.getContext(), region.getAttributes().getFnAttrs())));
  for (const auto attribute : {Attribute::AlwaysInline, Attribute::NoRecurse, Attribute::Memory})
    made->removeFnAttr(attribute);
  return made;
}

void run_body(IRBuilder<>& builder, const LoopShape& shape, Value* number, Function* body, Value* captures) {
  Function* next = shape.dispatched ? next_of_dispatched(shape) : next_of_static(shape);
  builder.CreateCall(run_member(shape), {number, shape.location, body, captures, next, shape.kind});
  builder.CreateRetVoid();
}

}  // namespace

bool is_replaceable(const LoopShape& shape, const CallBase& fork) {
  if (!shape.function->hasLocalLinkage() || !isa<Constant>(shape.location)) return false;
  for (const Use& use : shape.function->uses()) {
    const auto* call = dyn_cast<CallBase>(use.getUser());
    if (call == nullptr || (call != &fork && !call->isCallee(&use))) return false;
    if (call != &fork && call->getFunctionType() != shape.function->getFunctionType()) return false;
  }
  return true;
}

Function* make_standard_region(const LoopShape& shape, Function* body) {
  Type* pointer = PointerType::getUnqual(shape.function->getContext());
  Function* made = new_region(shape, {pointer, pointer, pointer});
  made->takeName(shape.function);
  IRBuilder<> builder(BasicBlock::Create(made->getContext(), "entry", made));
  run_body(builder, shape, made->getArg(0), body, made->getArg(2));
  return made;
}

void redirect_calls(const LoopShape& shape, Function* body) {
  Function& region = *shape.function;
  if (region.use_empty()) return;
  Function* made = new_region(shape, region.getFunctionType()->params());
  made->setName(body->getName() + ".called");
  IRBuilder<> builder(BasicBlock::Create(made->getContext(), "entry", made));
  const size_t count = made->arg_size() - 2;
  ArrayType* list = ArrayType::get(builder.getPtrTy(), std::max<size_t>(count, 1));
  AllocaInst* captures = builder.CreateAlloca(list);
  for (unsigned i = 0; i < count; ++i)
    builder.CreateStore(made->getArg(i + 2), builder.CreateConstInBoundsGEP2_32(list, captures, 0, i));
  run_body(builder, shape, made->getArg(0), body, captures);
  region.replaceAllUsesWith(made);
}

}  // namespace weft::pass
