// SPDX-License-Identifier: Apache-2.0
// Explicit tasks and their dependences.
#include <utility>

#include "base/small_list.h"
#include "openmp/ompt/callbacks.h"
#include "openmp/task/dependences.h"
#include "openmp/task/lone_tasks.h"
#include "openmp/task/task.h"
#include "openmp/team/cancel.h"
#include "openmp/tool/event_bodies.h"

namespace weft::openmp::ompt {

namespace {

// What `open` of a detachable task says until one of the two has happened.
constexpr int kBodyAndEvent = 2;

// A free agent is one thing more (free_agent.h), of which a tool hears nothing. A task may have further events
// (weft/task.h).
bool awaits_both(const Task* task) noexcept {
  return task->open.load(std::memory_order_relaxed) >= kBodyAndEvent + (task->for_agents ? 1 : 0);
}

void create(const Member* self, Task* task, int flags, bool has_dependences) noexcept {
  task->tool = {};
  task->tool.flags = flags;
  task->tool.chunk = std::exchange(t_thread.chunk, {});
  Task* parent = self->task;
  call<ompt_callback_task_create_t>(ompt_callback_task_create, &parent->tool.data, &std::as_const(parent->tool.frame),
                                    &task->tool.data, flags, has_dependences ? 1 : 0, t_thread.caller);
}

ompt_dependence_type_t type_of(const Dependence& dependence) noexcept {
  const bool everything = dependence.location == nullptr;
  switch (dependence.kind) {
    case DependKind::in: return ompt_dependence_type_in;
    case DependKind::inoutset: return ompt_dependence_type_inoutset;
    case DependKind::out: return everything ? ompt_dependence_type_out_all_memory : ompt_dependence_type_out;
    case DependKind::mutexinoutset: return ompt_dependence_type_mutexinoutset;
    case DependKind::inout: break;
  }
  return everything ? ompt_dependence_type_inout_all_memory : ompt_dependence_type_inout;
}

void tell_dependences(Task* task, const Dependence* list, int count) noexcept {
  if (count == 0) return;
  base::SmallList<ompt_dependence_t, 8> shown;
  for (int i = 0; i < count; ++i) {
    ompt_data_t variable{};
    variable.ptr = const_cast<void*>(list[i].location);
    shown.add({variable, type_of(list[i])});
  }
  call<ompt_callback_dependences_t>(ompt_callback_dependences, &task->tool.data,
                                    static_cast<const ompt_dependence_t*>(shown.begin()), count);
  shown.free_memory();
}

// From here on nobody tells of the task as somebody's predecessor.
void close(Task* task) noexcept {
  task->edges.lock();
  task->tool.flags |= kClosed;
  task->edges.unlock();
}

// Of a task with dependences or an event. What is not told may have in its record what that had in another life.
bool is_reported(const Task* task) noexcept { return task->team != nullptr && task->team->tool.reported; }

void schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) noexcept {
  call<ompt_callback_task_schedule_t>(ompt_callback_task_schedule, prior, status, next);
}

// What a member ran before `task`.
Task* below(Member* self, const Task* task) noexcept {
  return task->tool.below != nullptr ? task->tool.below : &self->implicit;
}

}  // namespace

void create_task(Member* self, Task* task, const TaskClauses& clauses) noexcept {
  if (clauses.deferred) defer_where_alone(self);
  const bool final = clauses.final || self->task->final;
  // Not deferred either where the team has one member: as the specification has it for included tasks.
  const bool deferred = clauses.deferred && !self->task->final && defers_tasks(self->team);
  int flags = ompt_task_explicit;
  if (final) flags |= ompt_task_final;
  if (!deferred) flags |= ompt_task_undeferred;
  create(self, task, flags, clauses.dependence_count > 0);
  task->tool.body = std::exchange(task->body, run_reported);
  tell_dependences(task, clauses.dependences, clauses.dependence_count);
}

void create_undeferred(Member* self, Task* task) noexcept {
  int flags = ompt_task_explicit | ompt_task_undeferred;
  if (task->final) flags |= ompt_task_final;
  create(self, task, flags, false);
}

void create_spawned(Member* self, Task* task) noexcept {
  create(self, task, ompt_task_explicit, false);
  task->tool.body = std::exchange(task->body, run_reported);
}

void start_task(Member* self, Task* task) noexcept {
  task->tool.below = std::exchange(self->tool.top, task);
  const bool yielded = std::exchange(t_thread.yields, false);
  schedule(&below(self, task)->tool.data, yielded ? ompt_task_yield : ompt_task_switch, &task->tool.data);
  task->tool.frame.exit_frame.ptr = __builtin_dwarf_cfa();
  task->tool.frame.exit_frame_flags = ompt_frame_runtime | ompt_frame_stackaddress;
  if (task->tool.chunk.iterations > 0) {
    ompt_data_t instance{};
    instance.ptr = &task->tool.chunk;
    call<ompt_callback_dispatch_t>(ompt_callback_dispatch, parallel_data(self), &task->tool.data,
                                   ompt_dispatch_taskloop_chunk, instance);
  }
}

void discard(Task* task) noexcept {
  const int construct = is_cancelled(task->group) ? ompt_cancel_taskgroup : ompt_cancel_parallel;
  const void* nobody = nullptr;
  call<ompt_callback_cancel_t>(ompt_callback_cancel, &task->tool.data, construct | ompt_cancel_discarded_task, nobody);
}

void end_task(Member* self, Task* task) noexcept {
  self->tool.top = task->tool.below;
  task->tool.frame.exit_frame.ptr = nullptr;
  const bool detached = awaits_both(task);
  if (detached) task->tool.flags |= kDetached;
  if (!detached) close(task);
  const ompt_task_status_t status = is_dropped(task) ? ompt_task_cancel
                                    : detached       ? ompt_task_detach
                                                     : ompt_task_complete;
  schedule(&task->tool.data, status, &below(self, task)->tool.data);
}

void run_reported(Task* task) {
  if (is_on()) start_task(self(), task);
  task->tool.body(task);
  if (is_on()) end_task(self(), task);
}

bool has_body(const Task* task, void (*body)(Task* task)) noexcept {
  return task->body == body || (task->body == run_reported && task->tool.body == body);
}

void fulfill(Task* task) noexcept {
  // A thread that has nothing to do with OpenMP otherwise is none to a tool, and a task is one when it has been
  // created.
  if (is_reported(task) && t_thread.begun && task->tool.flags != 0 && awaits_both(task))
    schedule(&task->tool.data, ompt_task_early_fulfill, nullptr);
}

void complete_detached(Task* task) noexcept {
  if (!is_reported(task) || (task->tool.flags & kDetached) == 0) return;
  close(task);
  if (t_thread.begun) schedule(&task->tool.data, ompt_task_late_fulfill, nullptr);
}

void begin_task_wait_for(Member* self, Task* stand_in, const Dependence* list, int count) noexcept {
  create(self, stand_in, ompt_task_taskwait | ompt_task_undeferred | ompt_task_mergeable, true);
  tell_dependences(stand_in, list, count);
  sync_region(ompt_sync_region_taskwait, ompt_scope_begin, self, t_thread.caller);
  sync_region_wait(ompt_sync_region_taskwait, ompt_scope_begin, self, t_thread.caller);
}

void end_task_wait_for(Member* self, Task* stand_in) noexcept {
  sync_region_wait(ompt_sync_region_taskwait, ompt_scope_end, self, t_thread.caller);
  sync_region(ompt_sync_region_taskwait, ompt_scope_end, self, t_thread.caller);
  schedule(&stand_in->tool.data, ompt_taskwait_complete, nullptr);
}

void depend(Task* predecessor, Task* successor) noexcept {
  if (!is_reported(predecessor) || (predecessor->tool.flags & kClosed) != 0) return;
  call<ompt_callback_task_dependence_t>(ompt_callback_task_dependence, &predecessor->tool.data, &successor->tool.data);
}

}  // namespace weft::openmp::ompt
