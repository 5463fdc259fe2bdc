// SPDX-License-Identifier: Apache-2.0
#include "openmp/kmp/reduction.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/message.h"
#include "openmp/task/task.h"

namespace weft::openmp::kmp {

namespace {

// Flag of an input: a copy is made when its member first asks for it, on that member, since the initializer looks at
// what the program has set there.
constexpr uint32_t kLazy = 1;

struct Variable {
  ReductionInput input;
  std::atomic<void*>* copies;  // by member, written by it alone; null where none has been made
};

}  // namespace

struct Copies {
  int count = 0;
  int members = 0;
  std::atomic<int> groups{0};  // acquire and release: the last one sees what all have done
  Variable* variables = nullptr;
};

struct Reductions {
  Copies* copies = nullptr;
  void** shared = nullptr;  // by variable
};

namespace {

void* make_copy(const ReductionInput& input) noexcept {
  // Members write to theirs side by side: on cache lines of their own.
  constexpr size_t kLine = 64;
  const size_t size = (input.size + kLine - 1) / kLine * kLine;
  void* copy = std::aligned_alloc(kLine, size);
  if (copy == nullptr) base::lacking("no memory for the reduction of %zu bytes", input.size);
  std::memset(copy, 0, size);
  if (input.init != nullptr && input.original != nullptr) {
    reinterpret_cast<void (*)(void*, void*)>(input.init)(copy, input.original);
  } else if (input.init != nullptr) {
    reinterpret_cast<void (*)(void*)>(input.init)(copy);
  }
  return copy;
}

void finish(const Variable& variable, int members, void* shared) noexcept {
  for (int i = 0; i < members; ++i) {
    void* copy = variable.copies[i].load(std::memory_order_relaxed);
    if (copy == nullptr) continue;
    variable.input.combine(shared, copy);
    if (variable.input.fini != nullptr) variable.input.fini(copy);
    std::free(copy);
  }
  std::free(variable.copies);
}

bool is_copy(const Variable& variable, int members, const void* address) noexcept {
  for (int i = 0; i < members; ++i) {
    // Acquire: who asks by a copy's address has it from the member that made it.
    const auto* copy = static_cast<const char*>(variable.copies[i].load(std::memory_order_acquire));
    if (copy != nullptr && address >= copy && address < copy + variable.input.size) return true;
  }
  return false;
}

template <class Value>
Value* make_array(int count) noexcept {
  auto* array = static_cast<Value*>(std::calloc(static_cast<size_t>(count), sizeof(Value)));
  if (array == nullptr) base::lacking("no memory for the reductions of tasks");
  return array;
}

}  // namespace

Copies* make_copies(int count, const ReductionInput* inputs, int members, int groups) noexcept {
  auto* copies = new (std::nothrow) Copies;
  if (copies == nullptr) base::lacking("no memory for the reductions of tasks");
  copies->count = count;
  copies->members = members;
  copies->groups.store(groups, std::memory_order_relaxed);
  copies->variables = make_array<Variable>(count);
  for (int i = 0; i < count; ++i) {
    Variable& variable = copies->variables[i];
    variable.input = inputs[i];
    variable.copies = make_array<std::atomic<void*>>(members);
    if ((inputs[i].flags & kLazy) != 0) continue;
    for (int k = 0; k < members; ++k) variable.copies[k].store(make_copy(inputs[i]), std::memory_order_relaxed);
  }
  return copies;
}

Reductions* make_reductions(Copies* copies, int count, const ReductionInput* inputs) noexcept {
  auto* group = make_array<Reductions>(1);
  group->copies = copies;
  group->shared = make_array<void*>(count);
  for (int i = 0; i < count; ++i) group->shared[i] = inputs[i].shared;
  return group;
}

void* find_copy(Reductions* group, int member, const void* address) noexcept {
  Copies* copies = group->copies;
  for (int i = 0; i < copies->count; ++i) {
    Variable& variable = copies->variables[i];
    if (group->shared[i] != address && !is_copy(variable, copies->members, address)) continue;
    void* copy = variable.copies[member].load(std::memory_order_relaxed);
    if (copy == nullptr) {
      copy = make_copy(variable.input);
      variable.copies[member].store(copy, std::memory_order_release);
    }
    return copy;
  }
  return nullptr;
}

void release_reductions(Reductions* group) noexcept {
  Copies* copies = group->copies;
  if (copies->groups.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    for (int i = 0; i < copies->count; ++i) finish(copies->variables[i], copies->members, group->shared[i]);
    std::free(copies->variables);
    delete copies;
  }
  std::free(group->shared);
  std::free(group);
}

}  // namespace weft::openmp::kmp

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// For the taskgroup that the member is in.
TaskGroup* add_to_group(int count, const ReductionInput* inputs) {
  Member* member = self();
  TaskGroup* group = member->task->group;
  // Alone, the tasks use the shared variables themselves.
  if (member->team->size > 1) {
    Copies* copies = make_copies(count, inputs, member->team->size, 1);
    group->kmp_reductions = make_reductions(copies, count, inputs);
  }
  return group;
}

// For a construct that all members meet: each has a taskgroup, and they share the copies.
TaskGroup* begin_shared_group(int count, const ReductionInput* inputs) {
  Member* member = self();
  begin_taskgroup(member);
  TaskGroup* group = member->task->group;
  group->implied = true;
  const int members = member->team->size;
  if (members == 1) return group;
  LoopShare* share =
      join_share(member, [&](LoopShare* made) { made->reductions = make_copies(count, inputs, members, members); });
  group->kmp_reductions = make_reductions(static_cast<Copies*>(share->reductions), count, inputs);
  leave_share(member, share);
  return group;
}

ReductionInput* modernize(int count, const OldReductionInput* inputs) {
  auto* modern = make_array<ReductionInput>(count);
  for (int i = 0; i < count; ++i) {
    const OldReductionInput& input = inputs[i];
    modern[i] = {input.shared, nullptr, input.size, input.init, input.fini, input.combine, input.flags};
  }
  return modern;
}

}  // namespace

WEFT_ABI void weft_abi___kmpc_taskgroup(Ident*, int32_t) {
  ompt::enter([](Member* member, auto told, const void*) { begin_taskgroup<told>(member); });
}
WEFT_ABI_EXPORT(__kmpc_taskgroup);

WEFT_ABI void weft_abi___kmpc_end_taskgroup(Ident*, int32_t) {
  ompt::enter([](Member* member, auto told, const void*) {
    Reductions* reductions = member->task->group->kmp_reductions;
    end_taskgroup<told>(member);
    if (reductions != nullptr) release_reductions(reductions);
  });
}
WEFT_ABI_EXPORT(__kmpc_end_taskgroup);

WEFT_ABI void* weft_abi___kmpc_taskred_init(int32_t, int32_t count, const ReductionInput* inputs) {
  return add_to_group(count, inputs);
}
WEFT_ABI_EXPORT(__kmpc_taskred_init);

WEFT_ABI void* weft_abi___kmpc_task_reduction_init(int32_t, int32_t count, const OldReductionInput* inputs) {
  ReductionInput* modern = modernize(count, inputs);
  TaskGroup* group = add_to_group(count, modern);
  std::free(modern);
  return group;
}
WEFT_ABI_EXPORT(__kmpc_task_reduction_init);

WEFT_ABI void* weft_abi___kmpc_taskred_modifier_init(Ident*, int32_t, int32_t, int32_t count,
                                                     const ReductionInput* inputs) {
  const ompt::Entry entry(WEFT_CALLER);
  return begin_shared_group(count, inputs);
}
WEFT_ABI_EXPORT(__kmpc_taskred_modifier_init);

WEFT_ABI void* weft_abi___kmpc_task_reduction_modifier_init(Ident*, int32_t, int32_t, int32_t count,
                                                            const OldReductionInput* inputs) {
  const ompt::Entry entry(WEFT_CALLER);
  ReductionInput* modern = modernize(count, inputs);
  TaskGroup* group = begin_shared_group(count, modern);
  std::free(modern);
  return group;
}
WEFT_ABI_EXPORT(__kmpc_task_reduction_modifier_init);

WEFT_ABI void weft_abi___kmpc_task_reduction_modifier_fini(Ident* location, int32_t gtid, int32_t) {
  const ompt::Entry entry(WEFT_CALLER);
  weft_abi___kmpc_end_taskgroup(location, gtid);
}
WEFT_ABI_EXPORT(__kmpc_task_reduction_modifier_fini);

// The calling member's copy of the variable at `address`, in the group or in one around it.
WEFT_ABI void* weft_abi___kmpc_task_reduction_get_th_data(int32_t, TaskGroup* group, void* address) {
  const Member* member = self();
  if (member->team->size == 1) return address;
  for (TaskGroup* at = group != nullptr ? group : member->task->group; at != nullptr; at = at->outer) {
    if (at->kmp_reductions == nullptr) continue;
    if (void* copy = find_copy(at->kmp_reductions, member->number, address)) return copy;
  }
  base::fatal("in_reduction of a variable that no enclosing construct reduces");
}
WEFT_ABI_EXPORT(__kmpc_task_reduction_get_th_data);
