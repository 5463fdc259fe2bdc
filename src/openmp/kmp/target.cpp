// SPDX-License-Identifier: Apache-2.0
// KMP: tasks of target constructs, and what an offloading library (libomptarget) asks of the runtime. Without devices
// the compiler calls target regions like functions.
#include "base/options.h"
#include "openmp/api/pause.h"
#include "openmp/kmp/task.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

// 0 disabled, 1 default, 2 mandatory.
WEFT_ABI(int32_t, __kmpc_get_target_offload)() {
  switch (base::options().target_offload) {
    case base::TargetOffload::disabled: return 0;
    case base::TargetOffload::mandatory: return 2;
    case base::TargetOffload::unset: break;
  }
  return 1;
}

WEFT_ABI(KmpTask*, __kmpc_omp_target_task_alloc)(Ident*, int32_t, int32_t flags, size_t record_size,
                                                 size_t shareds_size, Routine routine, int64_t) {
  return allocate_record(flags, record_size, shareds_size, routine);
}

// The second end of a proxy task: by a member of its team, or by any thread.
WEFT_ABI(void, __kmpc_proxy_task_completed)(int32_t, KmpTask* record) {
  const tool::Entry entry(WEFT_CALLER);
  fulfill_event(task_of(record));
}

WEFT_ABI(void, __kmpc_proxy_task_completed_ooo)(KmpTask* record) {
  const tool::Entry entry(WEFT_CALLER);
  fulfill_event(task_of(record));
}

// Whether the current task may end later than its routine.
WEFT_ABI(bool, __kmpc_omp_has_task_team)(int32_t) { return pending_work(self()) != nullptr; }

WEFT_ABI(void**, __kmpc_omp_get_target_async_handle_ptr)(int32_t) { return pending_work(self()); }

// ---- questions about tasks ----

namespace {

// Two tasks that have not ended have different ones.
uint64_t number_of(const Task* task) noexcept { return reinterpret_cast<uintptr_t>(task); }

}  // namespace

WEFT_ABI(uint64_t, __kmpc_get_taskid)() { return number_of(self()->task); }

// Of an implicit task it is the one that has met the region; 0 for an initial one.
WEFT_ABI(uint64_t, __kmpc_get_parent_taskid)() {
  const Member* member = self();
  const Task* task = member->task;
  if (!task->implicit) return number_of(task->parent.load(std::memory_order_relaxed));
  const Member* parent = member->team->parent;
  return parent != nullptr ? number_of(parent->task) : 0;
}

// For libomp's own tests, which look at its graph of dependences. It is kept in another form here: no node is shown.
WEFT_ABI(void*, __kmpc_task_get_depnode)(KmpTask*) { return nullptr; }

WEFT_ABI(void*, __kmpc_task_get_successors)(KmpTask*) { return nullptr; }

// The affinity clause: a hint which data a task will touch.
WEFT_ABI(int32_t, __kmpc_omp_reg_task_with_affinity)(Ident*, int32_t, KmpTask*, int32_t, void*) { return 0; }

// libomp's own step between a member and its function, exported by accident: no compiler calls it. The runtime has
// called the region's function of every member itself.
WEFT_ABI(int32_t, __kmpc_invoke_task_func)(int32_t) { return 1; }

// What omp_pause_resource of libomp calls; 0 goes on after a pause, for which nothing has to be done.
WEFT_ABI(int32_t, __kmpc_pause_resource)(int32_t kind) {
  return kind == 0 || pause_resources(static_cast<Pause>(kind)) == 0 ? 0 : 1;
}
