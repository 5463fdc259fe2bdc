// SPDX-License-Identifier: Apache-2.0
// KMP: the program's view of a task.
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

KmpTask* allocate_record(int32_t flags, size_t record_size, size_t shareds_size, Routine routine);

// The runtime's record of it.
Task* task_of(KmpTask* record) noexcept;

// Where an offloading library keeps what the current task still waits for: as long as that is not null at the end of
// the task's routine, the routine is called again. Null in an implicit task.
void** pending_work(const Member* member) noexcept;

}  // namespace weft::openmp::kmp
