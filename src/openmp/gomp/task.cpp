// SPDX-License-Identifier: Apache-2.0
// GOMP: explicit tasks.
#include <cstring>

#include "base/message.h"
#include "openmp/gomp/gomp.h"
#include "openmp/task.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

using Copy = void (*)(void* to, void* from);

// Bits of `flags` (gcc's gomp-constants.h).
constexpr unsigned kFinal = 1u << 1;
constexpr unsigned kDepend = 1u << 3;
constexpr unsigned kDetach = 1u << 13;

void run_task(Task* task) { task->function(task->data); }

}  // namespace

WEFT_ABI void weft_abi_GOMP_task(Function function, void* data, Copy copy, long size, long alignment, bool deferred,
                                 unsigned flags, void**, int, void*) {
  if ((flags & kDetach) != 0) base::fatal("the detach clause of a task is not supported yet");
  Member* member = self();
  void* payload = nullptr;
  Task* task = allocate_task(static_cast<size_t>(size), static_cast<size_t>(alignment), &payload);
  task->body = run_task;
  task->function = function;
  task->data = payload;
  if (copy != nullptr) {
    copy(payload, data);
  } else if (size > 0) {
    std::memcpy(payload, data, static_cast<size_t>(size));
  }
  TaskClauses clauses;
  // Tasks with dependences run where they are created: in the order of creation every one is met.
  clauses.deferred = deferred && (flags & kDepend) == 0;
  clauses.final = (flags & kFinal) != 0;
  submit_task(member, task, clauses);
}
WEFT_ABI_EXPORT(GOMP_task);

WEFT_ABI void weft_abi_GOMP_taskwait() { task_wait(self()); }
WEFT_ABI_EXPORT(GOMP_taskwait);

// Tasks with dependences have ended when they have been created.
WEFT_ABI void weft_abi_GOMP_taskwait_depend(void**) {}
WEFT_ABI_EXPORT(GOMP_taskwait_depend);

WEFT_ABI void weft_abi_GOMP_taskyield() { task_yield(self()); }
WEFT_ABI_EXPORT(GOMP_taskyield);

WEFT_ABI void weft_abi_GOMP_taskgroup_start() { begin_taskgroup(self()); }
WEFT_ABI_EXPORT(GOMP_taskgroup_start);

WEFT_ABI void weft_abi_GOMP_taskgroup_end() { end_taskgroup(self()); }
WEFT_ABI_EXPORT(GOMP_taskgroup_end);
