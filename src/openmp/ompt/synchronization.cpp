// SPDX-License-Identifier: Apache-2.0
// Barriers, taskwait, taskgroups, reductions, cancellation, flush; the error directive.
#include "base/small_list.h"
#include "openmp/ompt/callbacks.h"
#include "openmp/task/task.h"
#include "openmp/team/barrier.h"
#include "openmp/team/cancel.h"
#include "openmp/tool/event_bodies.h"

namespace weft::openmp::ompt {

namespace {

struct KindOfBarrier {
  ompt_sync_region_t region;
  int state;
};

KindOfBarrier kind_of(Barrier kind) noexcept {
  switch (kind) {
    case Barrier::construct: return {ompt_sync_region_barrier_explicit, ompt_state_wait_barrier_explicit};
    case Barrier::end_of_workshare:
      return {ompt_sync_region_barrier_implicit_workshare, ompt_state_wait_barrier_implicit_workshare};
    default: return {ompt_sync_region_barrier_implementation, ompt_state_wait_barrier_implementation};
  }
}

int flags_of(Construct construct) noexcept {
  switch (construct) {
    case Construct::parallel: return ompt_cancel_parallel;
    case Construct::loop: return ompt_cancel_loop;
    case Construct::sections: return ompt_cancel_sections;
    default: return ompt_cancel_taskgroup;
  }
}

}  // namespace

void barrier(Member* self, Barrier kind, const void* caller) noexcept {
  const Entry entry(caller);
  const KindOfBarrier shown = kind_of(kind);
  close_work(self);
  sync_region(shown.region, ompt_scope_begin, self, caller);
  sync_region_wait(shown.region, ompt_scope_begin, self, caller);
  {
    const Showing waiting(shown.state);
    pass_barrier(self);
  }
  sync_region_wait(shown.region, ompt_scope_end, self, caller);
  sync_region(shown.region, ompt_scope_end, self, caller);
}

void task_wait(Member* self, const void* caller) noexcept {
  const Entry entry(caller);
  sync_region(ompt_sync_region_taskwait, ompt_scope_begin, self, caller);
  sync_region_wait(ompt_sync_region_taskwait, ompt_scope_begin, self, caller);
  {
    const Showing waiting(ompt_state_wait_taskwait);
    await_children(self);
  }
  sync_region_wait(ompt_sync_region_taskwait, ompt_scope_end, self, caller);
  sync_region(ompt_sync_region_taskwait, ompt_scope_end, self, caller);
}

void task_yield(Member* self, const void* caller) noexcept {
  const Entry entry(caller);
  t_thread.yields = true;
  yield_to_task(self);
  t_thread.yields = false;
}

void begin_taskgroup(Member* self) noexcept {
  sync_region(ompt_sync_region_taskgroup, ompt_scope_begin, self, t_thread.caller);
}

void end_taskgroup(Member* self) noexcept {
  const void* caller = t_thread.caller;
  sync_region_wait(ompt_sync_region_taskgroup, ompt_scope_begin, self, caller);
  {
    const Showing waiting(ompt_state_wait_taskgroup);
    await_taskgroup(self);
  }
  sync_region_wait(ompt_sync_region_taskgroup, ompt_scope_end, self, caller);
  sync_region(ompt_sync_region_taskgroup, ompt_scope_end, self, caller);
}

void begin_reduction(Member* self) noexcept {
  t_thread.state = ompt_state_work_reduction;
  call<ompt_callback_sync_region_t>(ompt_callback_reduction, ompt_sync_region_reduction, ompt_scope_begin,
                                    parallel_data(self), task_data(self), t_thread.caller);
}

void end_reduction(Member* self) noexcept {
  t_thread.state = self->team->level > 0 ? ompt_state_work_parallel : ompt_state_work_serial;
  call<ompt_callback_sync_region_t>(ompt_callback_reduction, ompt_sync_region_reduction, ompt_scope_end,
                                    parallel_data(self), task_data(self), t_thread.caller);
}

void cancel(Member* self, Construct construct, bool detected) noexcept {
  const int flags = flags_of(construct) | (detected ? ompt_cancel_detected : ompt_cancel_activated);
  call<ompt_callback_cancel_t>(ompt_callback_cancel, task_data(self), flags, t_thread.caller);
}

int control(uint64_t command, uint64_t modifier, void* argument, const void* caller) noexcept {
  constexpr int kNoCallback = -1;
  const auto callback = reinterpret_cast<ompt_callback_control_tool_t>(
      g_callbacks[ompt_callback_control_tool].load(std::memory_order_acquire));
  if (callback == nullptr) return kNoCallback;
  const Entry entry(caller);
  return callback(command, modifier, argument, caller);
}

void error(bool fatal, const char* message, size_t length) noexcept {
  call<ompt_callback_error_t>(ompt_callback_error, fatal ? ompt_fatal : ompt_warning, message, length, t_thread.caller);
}

void doacross(Member* self, ompt_dependence_type_t kind, const uint64_t* at, int count) noexcept {
  // A member that is alone depends on nobody.
  if (self->doacross == nullptr) return;
  base::SmallList<ompt_dependence_t, 8> shown;
  for (int i = 0; i < count; ++i) {
    ompt_data_t value{};
    value.value = at[i];
    shown.add({value, kind});
  }
  call<ompt_callback_dependences_t>(ompt_callback_dependences, task_data(self),
                                    static_cast<const ompt_dependence_t*>(shown.begin()), count);
  shown.free_memory();
}

void flush(const void* caller) noexcept {
  const Entry entry(caller);
  call<ompt_callback_flush_t>(ompt_callback_flush, &t_thread.data, caller);
}

}  // namespace weft::openmp::ompt
