// SPDX-License-Identifier: Apache-2.0
#include "record.h"

#include <llvm/IR/Constants.h>

#include <cstddef>
#include <limits>

namespace weft::pass {
namespace {

using namespace llvm;

static_assert(offsetof(weft_range, begin) == 8 && offsetof(weft_range, last) == 24 && sizeof(weft_range) == 32);
static_assert(offsetof(weft_loop, location) == 16 && offsetof(weft_loop, learned) == 32 && sizeof(weft_loop) == 64);

// A loop over chunks adds the number of iterations to its bounds after the only chunk that it has: that must fit too.
uint64_t max_count(const LoopShape& shape) {
  const bool over_chunks = !shape.dispatched && shape.chunked;
  if (shape.bits == 64) return over_chunks ? uint64_t{1} << 62 : std::numeric_limits<int64_t>::max();
  if (over_chunks) return uint64_t{1} << 30;
  return shape.is_unsigned ? std::numeric_limits<uint32_t>::max() : std::numeric_limits<int32_t>::max();
}

uint32_t flags_of(const LoopShape& shape, bool alone) {
  uint32_t flags = 0;
  if (shape.monotonic) flags |= WEFT_LOOP_MONOTONIC;
  if (shape.reads_last) flags |= WEFT_LOOP_LASTPRIVATE;
  if (alone) flags |= WEFT_LOOP_ALONE;
  return flags;
}

Function* weak_function(Module& module, StringRef name, FunctionType* type) {
  if (Function* known = module.getFunction(name)) return known;
  Function* function = Function::Create(type, GlobalValue::ExternalWeakLinkage, name, module);
  function->setDoesNotThrow();
  return function;
}

}  // namespace

StructType* range_type(LLVMContext& context) {
  Type* pointer = PointerType::getUnqual(context);
  Type* wide = Type::getInt64Ty(context);
  Type* narrow = Type::getInt32Ty(context);
  return StructType::get(context, {pointer, wide, wide, narrow, narrow});
}

GlobalVariable* make_record(const LoopShape& shape, Value* location, bool alone) {
  Module& module = *shape.function->getParent();
  LLVMContext& context = module.getContext();
  Type* narrow = Type::getInt32Ty(context);
  Type* wide = Type::getInt64Ty(context);
  PointerType* pointer = PointerType::getUnqual(context);
  ArrayType* learned = ArrayType::get(wide, sizeof(weft_loop::learned) / sizeof(uint64_t));
  StructType* type = StructType::get(context, {narrow, narrow, narrow, narrow, pointer, wide, learned});
  Constant* where = dyn_cast<Constant>(location);
  Constant* value = ConstantStruct::get(
      type, {ConstantInt::get(narrow, WEFT_LOOP_VERSION), ConstantInt::get(narrow, flags_of(shape, alone)),
             ConstantInt::get(narrow, shape.schedule), ConstantInt::get(narrow, 0),
             where != nullptr ? where : ConstantPointerNull::get(pointer), ConstantInt::get(wide, max_count(shape)),
             ConstantAggregateZero::get(learned)});
  auto* record = new GlobalVariable(module, type, false, GlobalValue::InternalLinkage, value, "weft_loop");
  // In a cache line of its own: the runtime writes to it.
  record->setAlignment(Align(sizeof(weft_loop)));
  return record;
}

Function* parallel_for_function(Module& module) {
  LLVMContext& context = module.getContext();
  Type* pointer = PointerType::getUnqual(context);
  Type* wide = Type::getInt64Ty(context);
  return weak_function(module, "weft_parallel_for",
                       FunctionType::get(Type::getInt32Ty(context), {pointer, pointer, pointer, wide, wide}, false));
}

Function* push_loop_function(Module& module) {
  LLVMContext& context = module.getContext();
  Type* wide = Type::getInt64Ty(context);
  return weak_function(
      module, "weft_push_loop",
      FunctionType::get(Type::getVoidTy(context), {PointerType::getUnqual(context), wide, wide}, false));
}

}  // namespace weft::pass
