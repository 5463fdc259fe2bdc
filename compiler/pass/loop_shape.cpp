// SPDX-License-Identifier: Apache-2.0
#include "loop_shape.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "calls.h"
#include "carried_state.h"
#include "loop_region.h"

namespace weft::pass {
namespace {

using namespace llvm;

// enum sched_type of LLVM's kmp.h.
enum KmpSchedule : uint32_t {
  kStaticChunked = 33,
  kStatic = 34,
  kDynamic = 35,
  kGuided = 36,
  kRuntime = 37,
  kAuto = 38,
  kStaticBalancedChunked = 45,
  kGuidedSimd = 46,
  kRuntimeSimd = 47,
  kFirstOrdered = 64,
  kLastOrdered = 90,
};
constexpr uint32_t kNonmonotonic = 1u << 30;
constexpr uint32_t kModifiers = 3u << 29;

// ident_t::flags of loops.
constexpr uint32_t kSectionsIdent = 0x400;

// The first reason counts.
void object(LoopShape& shape, const Twine& reason) {
  if (shape.obstacle.empty()) shape.obstacle = reason.str();
}

LoopShape without_loop(LoopShape shape, const char* reason) {
  shape.init = nullptr;
  shape.obstacle = reason;
  return shape;
}

// False: it is none of a worksharing loop's.
bool read_schedule(LoopShape& shape) {
  const auto* operand = dyn_cast<ConstantInt>(shape.init->getArgOperand(2));
  if (operand == nullptr) return false;
  const auto value = static_cast<uint32_t>(operand->getZExtValue());
  const uint32_t kind = value & ~kModifiers;
  shape.monotonic = (value & kNonmonotonic) == 0;
  switch (kind) {
    case kStaticChunked:
    case kStaticBalancedChunked: shape.chunked = true; [[fallthrough]];
    case kStatic: shape.schedule = WEFT_SCHEDULE_STATIC; return true;
    case kDynamic:
      shape.schedule = WEFT_SCHEDULE_DYNAMIC;
      shape.chunked = true;
      return true;
    case kGuided:
    case kGuidedSimd:
      shape.schedule = WEFT_SCHEDULE_GUIDED;
      shape.chunked = true;
      return true;
    case kRuntime:
    case kRuntimeSimd: shape.schedule = WEFT_SCHEDULE_RUNTIME; return true;
    case kAuto: shape.schedule = WEFT_SCHEDULE_AUTO; return true;
    default: break;
  }
  if (kind < kFirstOrdered || kind > kLastOrdered) return false;
  shape.obstacle = "ordered";
  shape.schedule = WEFT_SCHEDULE_RUNTIME;
  return true;
}

// Which construct the loop is of, by the location that the compiler has passed.
const char* construct_of(const CallBase& init) {
  const auto* ident = dyn_cast<GlobalVariable>(init.getArgOperand(0)->stripPointerCasts());
  const auto* value =
      ident != nullptr && ident->hasInitializer() ? dyn_cast<ConstantStruct>(ident->getInitializer()) : nullptr;
  const auto* flags = value != nullptr ? dyn_cast<ConstantInt>(value->getOperand(1)) : nullptr;
  return flags != nullptr && (flags->getZExtValue() & kSectionsIdent) != 0 ? "parallel sections" : "parallel for";
}

// The calls of the loop, and every other call that has a say. False: it is not one loop.
bool collect(LoopShape& shape) {
  unsigned loops = 0;
  unsigned nexts = 0;
  unsigned finis = 0;
  bool distributes = false;
  for (Instruction& instruction : instructions(*shape.function)) {
    switch (classify(instruction)) {
      case Call::static_init:
      case Call::dispatch_init:
        ++loops;
        shape.init = cast<CallBase>(&instruction);
        shape.dispatched = classify(instruction) == Call::dispatch_init;
        break;
      case Call::static_fini:
        ++finis;
        shape.fini = cast<CallBase>(&instruction);
        break;
      case Call::dispatch_next:
        ++nexts;
        shape.next = cast<CallBase>(&instruction);
        break;
      case Call::distribute: distributes = true; break;
      case Call::unsupported: object(shape, "calls " + callee_name(instruction)); break;
      default: shape.asks_number |= callee_name(instruction).starts_with("omp_get_thread_num"); break;
    }
  }
  if (loops != 1 || distributes) {
    shape.init = nullptr;
    shape.obstacle = distributes ? "distribute" : loops == 0 ? "no worksharing loop" : "several worksharing loops";
    return false;
  }
  if (shape.dispatched ? nexts != 1 : finis != 1) object(shape, "the loop has several ends");
  return true;
}

bool is_loaded(const Value* slot) {
  for (const User* user : slot->users())
    if (isa<LoadInst>(user)) return true;
  return false;
}

bool has_barrier(Function& function) {
  return any_of(instructions(function), [](const Instruction& instruction) {
    return classify(instruction) == Call::barrier || callee_name(instruction) == "__kmpc_end_reduce";
  });
}

// Of a computed goto. A table of labels names the blocks of one function: a copy would jump into the original.
bool has_label_addresses(const Function& function) {
  return any_of(function, [](const BasicBlock& block) { return block.hasAddressTaken(); });
}

bool is_one(const Value* value) {
  const auto* constant = dyn_cast<ConstantInt>(value);
  return constant != nullptr && constant->isOne();
}

}  // namespace

Value* LoopShape::last_slot() const { return dispatched ? next->getArgOperand(2) : init->getArgOperand(3); }
Value* LoopShape::lower() const { return init->getArgOperand(dispatched ? 3 : 4); }
Value* LoopShape::upper() const { return init->getArgOperand(dispatched ? 4 : 5); }
Value* LoopShape::stride_slot() const { return dispatched ? next->getArgOperand(5) : init->getArgOperand(6); }
Value* LoopShape::chunk() const { return init->getArgOperand(dispatched ? 6 : 8); }

LoopShape find_loop(Function& function) {
  LoopShape shape;
  shape.function = &function;
  if (!collect(shape)) return shape;
  if (has_label_addresses(function)) return without_loop(shape, "the addresses of its labels are taken");
  shape.location = shape.init->getArgOperand(0);
  shape.kind = shape.init->getArgOperand(2);
  const StringRef name = callee_name(*shape.init);
  shape.is_unsigned = name.ends_with("u");
  shape.bits = name.contains("_8") ? 64 : 32;
  shape.construct = construct_of(*shape.init);
  if (is_repeated(*shape.init)) return without_loop(shape, "the region may run its loop several times");
  if (!read_schedule(shape)) return without_loop(shape, "the schedule is not one of a worksharing loop's");
  if (!is_one(shape.init->getArgOperand(shape.dispatched ? 5 : 7)))
    return without_loop(shape, "the loop's counter does not go up by one");
  // OpenMP 5.2, section 11.5.3. Without a chunk size a program that does not ask cannot tell.
  if (shape.schedule == WEFT_SCHEDULE_STATIC && shape.chunked)
    object(shape, "schedule(static, chunk) says which member runs what");
  if (shape.schedule != WEFT_SCHEDULE_DYNAMIC && shape.schedule != WEFT_SCHEDULE_GUIDED && shape.asks_number)
    object(shape, "a static schedule, and the region asks for its thread number");
  if (!shape.obstacle.empty()) return shape;
  shape.reads_last = is_loaded(shape.last_slot());
  // Where nobody can tell the order is left to the runtime.
  if (shape.schedule == WEFT_SCHEDULE_STATIC)
    shape.monotonic = carries_state(shape);
  else if (shape.schedule == WEFT_SCHEDULE_RUNTIME)
    shape.monotonic |= carries_state(shape);
  object(shape, shape.dispatched ? std::string() : why_not_repeatable(*shape.init, *shape.fini));
  object(shape, why_not_last(function, *shape.init));
  if (has_barrier(function) && publishes_private(function))
    object(shape, "others may use a private variable up to the loop's barrier");
  if (has_barrier(function) && may_make_tasks(function)) {
    shape.task_barrier = common_barrier(function);
    if (shape.task_barrier == nullptr) object(shape, "tasks end at a barrier that is not always come to");
  }
  return shape;
}

// The bounds are inclusive. An unsigned loop without iterations may end at the counter's largest value, one before its
// first: that wraps to 0 in the counter's own width.
Value* iterations_of(IRBuilder<>& builder, const LoopShape& shape, CallBase& init) {
  Type* type = builder.getIntNTy(shape.bits);
  Value* lower = init.getArgOperand(shape.dispatched ? 3 : 4);
  Value* upper = init.getArgOperand(shape.dispatched ? 4 : 5);
  if (!shape.dispatched) {
    lower = builder.CreateLoad(type, lower);
    upper = builder.CreateLoad(type, upper);
  }
  Value* empty = shape.is_unsigned ? builder.CreateICmpULT(upper, lower) : builder.CreateICmpSLT(upper, lower);
  Value* count = builder.CreateAdd(builder.CreateSub(upper, lower), ConstantInt::get(type, 1));
  count = builder.CreateSelect(empty, ConstantInt::get(type, 0), count);
  return builder.CreateZExt(count, builder.getInt64Ty());
}

Value* chunk_of(IRBuilder<>& builder, const LoopShape& shape, CallBase& init) {
  return builder.CreateSExt(init.getArgOperand(shape.dispatched ? 6 : 8), builder.getInt64Ty());
}

SmallPtrSet<BasicBlock*, 8> combining_blocks(Function& function) {
  SmallPtrSet<BasicBlock*, 8> found;
  const DominatorTree dominators(function);
  for (Instruction& instruction : instructions(function)) {
    if (classify(instruction) != Call::reduce) continue;
    for (User* user : instruction.users()) {
      auto* choice = dyn_cast<SwitchInst>(user);
      if (choice == nullptr) continue;
      for (const auto& one : choice->cases()) {
        BasicBlock* head = one.getCaseSuccessor();
        if (head == choice->getDefaultDest() || head->getSinglePredecessor() == nullptr) continue;
        for (BasicBlock& block : function)
          if (dominators.dominates(head, &block)) found.insert(&block);
      }
    }
  }
  return found;
}

}  // namespace weft::pass
