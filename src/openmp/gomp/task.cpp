// SPDX-License-Identifier: Apache-2.0
// GOMP: explicit tasks.
#include <cstring>

#include "openmp/gomp/task.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

// Bits of `flags` (gcc's gomp-constants.h).
constexpr unsigned kDepend = 1u << 3;
constexpr unsigned kDetach = 1u << 13;

// Kinds of a dependence object, and of the entries that gcc 13 describes like one.
enum : uintptr_t { kIn = 1, kOut, kInout, kMutexinoutset, kInoutset };

DependKind kind_of(uintptr_t kind) noexcept {
  switch (kind) {
    case kIn: return DependKind::in;
    case kOut: return DependKind::out;
    case kMutexinoutset: return DependKind::mutexinoutset;
    case kInoutset: return DependKind::inoutset;
    default: return DependKind::inout;
  }
}

}  // namespace

Dependence gomp::dependence_of(const DependObject& object) noexcept { return {object.location, kind_of(object.kind)}; }

// Two layouts: {n, how many are out or inout, addresses...}, the rest being in; and {0, n, how many are out or inout,
// mutexinoutset, in, addresses...}, the rest being addresses of {location, kind}.
Dependences gomp::read_dependences(void** depend) noexcept {
  const auto number = [depend](int index) { return reinterpret_cast<uintptr_t>(depend[index]); };
  Dependences list;
  if (number(0) != 0) {
    for (uintptr_t i = 0; i < number(0); ++i) {
      list.add({depend[2 + i], i < number(1) ? DependKind::inout : DependKind::in});
    }
    return list;
  }
  const uintptr_t exclusive = number(2) + number(3);
  const uintptr_t plain = exclusive + number(4);
  for (uintptr_t i = 0; i < number(1); ++i) {
    void* entry = depend[5 + i];
    if (i < plain) {
      list.add({entry, i < number(2) ? DependKind::inout : i < exclusive ? DependKind::mutexinoutset : DependKind::in});
    } else {
      list.add(dependence_of(*static_cast<const DependObject*>(entry)));
    }
  }
  return list;
}

WEFT_ABI(void, GOMP_task)(Function function, void* data, Copy copy, long size, long alignment, bool deferred,
                          unsigned flags, void** depend, int priority, void* event) {
  tool::enter([=](Member* member, auto listener, const void*) {
    TaskClauses clauses;
    clauses.final = (flags & kFinal) != 0;
    if ((flags & kPriority) != 0) clauses.priority = priority;
    if ((flags & (kDepend | kDetach)) == 0 && copy == nullptr && runs_at_once(member, deferred)) {
      Task* task = allocate_task(0, 1, nullptr);
      task->body = run_task;
      task->function = function;
      task->data = data;
      clauses.deferred = false;
      submit_task(member, task, clauses, listener);
      return;
    }
    void* payload = nullptr;
    Task* task = allocate_task(static_cast<size_t>(size), static_cast<size_t>(alignment), &payload);
    task->body = body_for(copy);
    task->function = function;
    task->data = payload;
    clauses.detachable = (flags & kDetach) != 0;
    if (clauses.detachable) {
      // The handle, for the program and, as the first thing of its data, for the task.
      make_detachable(task);
      *static_cast<Task**>(event) = task;
      if (data != nullptr) *static_cast<Task**>(data) = task;
    }
    if (copy != nullptr) {
      copy(payload, data);
    } else if (size > 0) {
      std::memcpy(payload, data, static_cast<size_t>(size));
    }
    clauses.deferred = deferred;
    Dependences dependences;
    if ((flags & kDepend) != 0) {
      dependences = read_dependences(depend);
      clauses.dependences = dependences.begin();
      clauses.dependence_count = dependences.size();
    }
    submit_task(member, task, clauses, listener);
    dependences.free_memory();
  });
}

WEFT_ABI(void, GOMP_taskwait)() {
  tool::enter([](Member* member, auto listener, const void* caller) { task_wait(member, caller, listener); });
}

WEFT_ABI(void, GOMP_taskwait_depend)(void** depend) {
  const tool::Entry entry(WEFT_CALLER);
  Dependences dependences = read_dependences(depend);
  task_wait_for(self(), dependences.begin(), dependences.size());
  dependences.free_memory();
}

WEFT_ABI(void, GOMP_taskwait_depend_nowait)(void** depend) {
  const tool::Entry entry(WEFT_CALLER);
  Dependences dependences = read_dependences(depend);
  submit_empty_task(self(), dependences.begin(), dependences.size());
  dependences.free_memory();
}

WEFT_ABI(void, GOMP_taskyield)() { task_yield(self(), WEFT_CALLER); }

WEFT_ABI(void, GOMP_taskgroup_start)() {
  tool::enter([](Member* member, auto listener, const void*) { begin_taskgroup(member, listener); });
}

WEFT_ABI(void, GOMP_taskgroup_end)() {
  tool::enter([](Member* member, auto listener, const void*) { end_taskgroup(member, listener); });
}
