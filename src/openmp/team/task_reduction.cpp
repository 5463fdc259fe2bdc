// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/task_reduction.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/message.h"
#include "openmp/loop/worksharing.h"
#include "openmp/record/team.h"
#include "openmp/task/lone_tasks.h"

namespace weft::openmp {

namespace {

struct Variable {
  ReducedVariable input;
  std::atomic<void*>* copies;  // by member, written by it alone; null where none has been made
};

// The copies of a stand-in, by variable: its member may be in the middle of a task with those of the number.
struct FurtherCopies {
  const Member* owner;
  std::atomic<void*>* copies;  // written by the owner alone; null where none has been made
  FurtherCopies* next;
};

// The members' copies; of a taskgroup, or shared by the groups of all members that met one construct.
struct Copies {
  int count = 0;
  int members = 0;
  std::atomic<int> groups{0};  // acquire and release: the last one sees what all have done
  Variable* variables = nullptr;
  // Each puts its own in front, none goes before the end. Release, and acquire by those that look at them.
  std::atomic<FurtherCopies*> further{nullptr};
};

FurtherCopies* first_further(const Copies* all) noexcept { return all->further.load(std::memory_order_acquire); }

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

void combine(const ReducedVariable& input, void* shared, void* copy) noexcept {
  if (copy == nullptr) return;
  input.combine(shared, copy);
  if (input.fini != nullptr) input.fini(copy);
  std::free(copy);
}

void finish(Copies* all, int index, void* shared) noexcept {
  const Variable& variable = all->variables[index];
  for (int i = 0; i < all->members; ++i) {
    combine(variable.input, shared, variable.copies[i].load(std::memory_order_relaxed));
  }
  for (const FurtherCopies* further = first_further(all); further != nullptr; further = further->next) {
    combine(variable.input, shared, further->copies[index].load(std::memory_order_relaxed));
  }
  std::free(variable.copies);
}

bool lies_in(const void* address, const void* copy, size_t size) noexcept {
  const auto* first = static_cast<const char*>(copy);
  return copy != nullptr && address >= first && address < first + size;
}

bool is_copy(const Copies* all, int index, const void* address) noexcept {
  const Variable& variable = all->variables[index];
  for (int i = 0; i < all->members; ++i) {
    // Acquire: a task that asks by a copy's address has it from the member that made it.
    if (lies_in(address, variable.copies[i].load(std::memory_order_acquire), variable.input.size)) return true;
  }
  for (const FurtherCopies* further = first_further(all); further != nullptr; further = further->next) {
    if (lies_in(address, further->copies[index].load(std::memory_order_acquire), variable.input.size)) return true;
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

// The index of the variable at `address`, which is the group's shared one or some copy of it; -1 if the group does not
// have it.
int find_variable(TaskReductions* group, const void* address) noexcept {
  const Copies* all = group->copies;
  for (int i = 0; i < all->count; ++i) {
    if (group->shared[i] == address || is_copy(all, i, address)) return i;
  }
  return -1;
}

std::atomic<void*>& further_copy(Copies* all, const Member* owner, int index) noexcept {
  FurtherCopies* further = first_further(all);
  while (further != nullptr && further->owner != owner) further = further->next;
  if (further == nullptr) {
    further = make_array<FurtherCopies>(1);
    further->owner = owner;
    further->copies = make_array<std::atomic<void*>>(all->count);
    further->next = all->further.load(std::memory_order_relaxed);
    while (!all->further.compare_exchange_weak(further->next, further, std::memory_order_release,
                                               std::memory_order_relaxed)) {
    }
  }
  return further->copies[index];
}

void* own_copy(Copies* all, const Member* member, int index) noexcept {
  const Variable& variable = all->variables[index];
  std::atomic<void*>& place = member->stands_in ? further_copy(all, member, index) : variable.copies[member->number];
  // Relaxed: it is the caller's own.
  void* copy = place.load(std::memory_order_relaxed);
  if (copy == nullptr) {
    copy = make_copy(variable.input);
    place.store(copy, std::memory_order_release);
  }
  return copy;
}

void free_copies(Copies* all) noexcept {
  for (FurtherCopies* further = first_further(all); further != nullptr;) {
    FurtherCopies* next = further->next;
    std::free(further->copies);
    std::free(further);
    further = next;
  }
  std::free(all->variables);
  delete all;
}

}  // namespace

void release_reductions(TaskReductions* group) noexcept {
  Copies* copies = group->copies;
  if (copies->groups.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    for (int i = 0; i < copies->count; ++i) finish(copies, i, group->shared[i]);
    free_copies(copies);
  }
  std::free(group->shared);
  std::free(group);
}

TaskGroup* add_reductions(Member* member, int count, const ReducedVariable* inputs) noexcept {
  TaskGroup* group = member->task->group;
  // Alone, the tasks use the shared variables themselves; so does a free agent, whose group says that it reduces.
  defer_where_alone(member);
  if (defers_tasks(member->team) || member->team->agent_of != nullptr) {
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
  defer_where_alone(member);
  if (!defers_tasks(member->team)) return group;
  Workshare* share =
      join_workshare(member, [&](Workshare* made) { made->reductions = make_copies(count, inputs, members, members); });
  group->reductions = make_reductions(static_cast<Copies*>(share->reductions), count, inputs);
  leave_workshare(member, share);
  return group;
}

void* find_reduction_copy(Member* member, TaskGroup* group, void* address) noexcept {
  if (!defers_tasks(member->team)) return address;
  for (TaskGroup* at = group != nullptr ? group : member->task->group; at != nullptr; at = at->outer) {
    if (at->reductions == nullptr) continue;
    const int index = find_variable(at->reductions, address);
    if (index >= 0) return own_copy(at->reductions->copies, member, index);
  }
  if (member->team->size == 1) return address;
  base::fatal("in_reduction of a variable that no enclosing construct reduces");
}

}  // namespace weft::openmp
