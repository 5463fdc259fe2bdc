// SPDX-License-Identifier: Apache-2.0
// A sink of the recorder: what becomes of what the runtime tells. There are two, for `weft report` and `weft trace`.
#pragma once

#include "observe/record/sink/runtime_calls.h"
#include "weft/omp-tools.h"
#include "weft/weft-tools.h"

namespace weft::observe {

// A function for each event. Null: the sink does without it.
struct Events {
  ompt_callback_thread_begin_t thread_begin = nullptr;
  ompt_callback_thread_end_t thread_end = nullptr;
  ompt_callback_parallel_begin_t parallel_begin = nullptr;
  ompt_callback_parallel_end_t parallel_end = nullptr;
  ompt_callback_implicit_task_t implicit_task = nullptr;
  ompt_callback_task_create_t task_create = nullptr;
  ompt_callback_task_schedule_t task_schedule = nullptr;
  ompt_callback_sync_region_t sync_region_wait = nullptr;
  ompt_callback_work_t work = nullptr;
  ompt_callback_dispatch_t dispatch = nullptr;
  ompt_callback_masked_t masked = nullptr;
  ompt_callback_mutex_acquire_t mutex_acquire = nullptr;
  ompt_callback_mutex_t mutex_acquired = nullptr;
  ompt_callback_mutex_t mutex_released = nullptr;
  ompt_callback_nest_lock_t nest_lock = nullptr;
  weft_callback_loop_t loop = nullptr;
  weft_callback_call_t call = nullptr;
  weft_callback_library_t region_of_library = nullptr;
  weft_callback_switch_t change_of_carrier = nullptr;
  // Which regions and chunks the runtime need not tell.
  weft_callback_region_wanted_t region_wanted = nullptr;
  weft_callback_region_after_t region_after = nullptr;
  weft_callback_chunks_untold_t chunks_unwatched = nullptr;
  weft_callback_chunks_left_t chunks_left = nullptr;
};

// Whether the task that was left has come to its end, and what is kept of it can go.
inline bool ends_task(ompt_task_status_t status) noexcept {
  return status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_late_fulfill ||
         status == ompt_taskwait_complete;
}

struct Sink {
  const Events& events;
  // Before the first event.
  void (*prepare)(const RuntimeCalls& runtime);
  // Events come from now on. False: it has been said why there will be nothing.
  bool (*start)();
  // No event comes any more, but for those of threads that go on. Writes what there is.
  void (*finish)();
};

}  // namespace weft::observe
