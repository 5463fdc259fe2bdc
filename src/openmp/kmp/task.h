// SPDX-License-Identifier: Apache-2.0
// KMP: tasks, those of a taskloop included. The program sees a record of its own layout, which the runtime allocates
// behind its own.
#pragma once

#include <cstdint>

#include "openmp/kmp/kmp.h"
#include "openmp/task/task.h"

namespace weft::openmp::kmp {

struct KmpTask;
using Routine = int32_t (*)(int32_t gtid, KmpTask* task);

union KmpTaskData {
  int32_t priority;
  Routine destructors;
};

// What precedes the privates in the program's view (kmp_task_t). `part` is the compiler's.
struct KmpTask {
  void* shareds;
  Routine routine;
  int32_t part;
  KmpTaskData destructors;
  KmpTaskData priority;
};

// Bits of `flags`.
inline constexpr int32_t kFinal = 1 << 1;
inline constexpr int32_t kDestructors = 1 << 3;
inline constexpr int32_t kProxy = 1 << 4;  // ends when __kmpc_proxy_task_completed says so: like a detachable one
inline constexpr int32_t kPriority = 1 << 5;
inline constexpr int32_t kDetachable = 1 << 6;
inline constexpr int32_t kFreeAgents = 1 << 7;

// Stands before the program's record.
struct alignas(16) Link {
  Task* task;
  int32_t flags;
  bool again;  // an untied task has submitted itself: its next part is due
  size_t record_size;  // of the program's record, rounded up
  size_t shareds_size;
  // Of the pattern of a taskloop: where the record holds its bounds, and the loop's step.
  uint32_t lower = 0;
  uint32_t upper = 0;
  int64_t step = 0;
  void* pending = nullptr;  // see pending_work()
};

inline Link* link_of(const KmpTask* task) noexcept {
  return reinterpret_cast<Link*>(reinterpret_cast<uintptr_t>(task) - sizeof(Link));
}

// With the record's size rounded up.
KmpTask* allocate_record(int32_t flags, size_t record_size, size_t shareds_size, Routine routine);

// The runtime's record of it.
inline Task* task_of(KmpTask* record) noexcept { return link_of(record)->task; }

// Where an offloading library keeps what the current task still waits for: as long as that is not null at the end of
// the task's routine, the routine is called again. Null in an implicit task.
void** pending_work(const Member* member) noexcept;

inline void run_destructors(KmpTask* record) noexcept {
  if ((link_of(record)->flags & kDestructors) != 0) record->destructors.destructors(self()->number, record);
}

// The compiler cuts an untied task at its scheduling points: a part ends by submitting the task once more, and
// the routine goes on with the next part when it is called again. Here the same member runs them all in turn.
inline void run_remaining_parts(KmpTask* record) {
  while (link_of(record)->again) {
    link_of(record)->again = false;
    record->routine(self()->number, record);
  }
  run_destructors(record);
}

// What the program's flags say.
inline TaskClauses clauses_of(KmpTask* record, bool deferred) noexcept {
  const Link* link = link_of(record);
  TaskClauses clauses;
  clauses.deferred = deferred;
  clauses.final = (link->flags & kFinal) != 0;
  clauses.detachable = (link->flags & (kDetachable | kProxy)) != 0;
  clauses.free_agents = (link->flags & kFreeAgents) != 0;
  if ((link->flags & kPriority) != 0) clauses.priority = record->priority.priority;
  return clauses;
}

}  // namespace weft::openmp::kmp
