// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/task_reduction.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/message.h"
#include "openmp/loop/worksharing.h"
#include "openmp/team/team.h"

namespace weft::openmp {

namespace {

struct Variable {
  ReducedVariable input;
  std::atomic<void*>* copies;  // by member, written by it alone; null where none has been made
};

// The members' copies; of a taskgroup, or shared by the groups of all members that met one construct.
struct Copies {
  int count = 0;
  int members = 0;
  std::atomic<int> groups{0};  // acquire and release: the last one sees what all have done
  Variable* variables = nullptr;
};

}  // namespace

// What one group has: the copies, and its own idea of where the shared variables are.
struct TaskReductions {
  Copies* copies = nullptr;
  void** shared = nullptr;  // by variable
};

namespace {

void* make_copy(const ReducedVariable& input) noexcept {
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
    // Acquire: a task that asks by a copy's address has it from the member that made it.
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

// Copies for `members`, used by `groups` groups.
Copies* make_copies(int count, const ReducedVariable* inputs, int members, int groups) noexcept {
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
    if ((inputs[i].flags & ReducedVariable::kLazy) != 0) continue;
    for (int k = 0; k < members; ++k) variable.copies[k].store(make_copy(inputs[i]), std::memory_order_relaxed);
  }
  return copies;
}

TaskReductions* make_reductions(Copies* copies, int count, const ReducedVariable* inputs) noexcept {
  auto* group = make_array<TaskReductions>(1);
  group->copies = copies;
  group->shared = make_array<void*>(count);
  for (int i = 0; i < count; ++i) group->shared[i] = inputs[i].shared;
  return group;
}

// The member's copy of the variable at `address`, which is the group's shared one or some member's copy; null if the
// group does not have it.
void* find_copy(TaskReductions* group, int member, const void* address) noexcept {
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

}  // namespace

void release_reductions(TaskReductions* group) noexcept {
  Copies* copies = group->copies;
  if (copies->groups.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    for (int i = 0; i < copies->count; ++i) finish(copies->variables[i], copies->members, group->shared[i]);
    std::free(copies->variables);
    delete copies;
  }
  std::free(group->shared);
  std::free(group);
}

TaskGroup* add_reductions(Member* member, int count, const ReducedVariable* inputs) noexcept {
  TaskGroup* group = member->task->group;
  // Alone, the tasks use the shared variables themselves.
  if (member->team->size > 1) {
    Copies* copies = make_copies(count, inputs, member->team->size, 1);
    group->reductions = make_reductions(copies, count, inputs);
  }
  return group;
}

TaskGroup* begin_shared_reductions(Member* member, int count, const ReducedVariable* inputs) noexcept {
  begin_taskgroup(member);
  TaskGroup* group = member->task->group;
  group->implied = true;
  const int members = member->team->size;
  if (members == 1) return group;
  Workshare* share =
      join_workshare(member, [&](Workshare* made) { made->reductions = make_copies(count, inputs, members, members); });
  group->reductions = make_reductions(static_cast<Copies*>(share->reductions), count, inputs);
  leave_workshare(member, share);
  return group;
}

void* find_reduction_copy(Member* member, TaskGroup* group, void* address) noexcept {
  if (tasks_may_pause()) use_number(member);
  if (member->team->size == 1) return address;
  for (TaskGroup* at = group != nullptr ? group : member->task->group; at != nullptr; at = at->outer) {
    if (at->reductions == nullptr) continue;
    if (void* copy = find_copy(at->reductions, member->number, address)) return copy;
  }
  base::fatal("in_reduction of a variable that no enclosing construct reduces");
}

}  // namespace weft::openmp
