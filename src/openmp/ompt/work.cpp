// SPDX-License-Identifier: Apache-2.0
// Worksharing constructs and the masked construct.
#include <utility>

#include "openmp/loop/worksharing.h"
#include "openmp/ompt/callbacks.h"
#include "openmp/tool/event_bodies.h"

namespace weft::openmp::ompt {

namespace {

void work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, const Member* self, uint64_t count,
          const void* caller) noexcept {
  call<ompt_callback_work_t>(ompt_callback_work, kind, endpoint, parallel_data(self), task_data(self), count, caller);
}

void masked(ompt_scope_endpoint_t endpoint, const Member* self) noexcept {
  call<ompt_callback_masked_t>(ompt_callback_masked, endpoint, parallel_data(self), task_data(self), t_thread.caller);
}

void tell_dispatch(const Member* self, ompt_dispatch_t kind, ompt_data_t instance) noexcept {
  call<ompt_callback_dispatch_t>(ompt_callback_dispatch, parallel_data(self), task_data(self), kind, instance);
}

// A loop that begins with its region has no call of its own.
const void* caller_of(const Member* self) noexcept {
  return t_thread.caller != nullptr ? t_thread.caller : self->team->tool.caller;
}

}  // namespace

void close_work(Member* self) noexcept {
  end_single(self, t_thread.caller);
  end_work(self, t_thread.caller);
}

void begin_work(Member* self, ompt_work_t kind, uint64_t count) noexcept {
  close_work(self);
  self->loop.unreported = 0;
  self->tool.work = kind;
  self->tool.count = count;
  self->tool.caller = caller_of(self);
  work(kind, ompt_scope_begin, self, count, self->tool.caller);
}

void begin_loop(Member* self, base::LoopSchedule::Kind kind, uint64_t count) noexcept {
  using Kind = base::LoopSchedule::Kind;
  begin_work(self,
             kind == Kind::dynamic  ? ompt_work_loop_dynamic
             : kind == Kind::guided ? ompt_work_loop_guided
                                    : ompt_work_loop_static,
             count);
}

void end_work(Member* self, const void* caller) noexcept {
  if (self->tool.work == 0) return;
  // Of a loop that is cancelled: nobody asks for its last chunk.
  if (self->loop.reported() && self->loop.unreported > 0) chunks_left(std::exchange(self->loop.unreported, 0));
  const auto kind = static_cast<ompt_work_t>(self->tool.work);
  self->tool.work = 0;
  if (caller == nullptr) caller = t_thread.caller;
  // The end of a region that a call has begun may have no call of its own.
  work(kind, ompt_scope_end, self, self->tool.count, caller != nullptr ? caller : self->tool.caller);
}

void begin_task_loop(Member* self, uint64_t count) noexcept {
  work(ompt_work_taskloop, ompt_scope_begin, self, count, t_thread.caller);
}

void end_task_loop(Member* self, uint64_t count) noexcept {
  work(ompt_work_taskloop, ompt_scope_end, self, count, t_thread.caller);
}

void announce_chunk(uint64_t first, uint64_t count) noexcept { t_thread.chunk = {first, count}; }

void begin_single(Member* self, bool executes) noexcept {
  close_work(self);
  const void* caller = t_thread.caller;
  if (executes) {
    self->tool.single = true;
    self->tool.caller = caller;
    work(ompt_work_single_executor, ompt_scope_begin, self, 1, caller);
    return;
  }
  work(ompt_work_single_other, ompt_scope_begin, self, 1, caller);
  work(ompt_work_single_other, ompt_scope_end, self, 1, caller);
}

void end_single(Member* self, const void* caller) noexcept {
  if (!self->tool.single) return;
  self->tool.single = false;
  work(ompt_work_single_executor, ompt_scope_end, self, 1, caller != nullptr ? caller : self->tool.caller);
}

uint32_t dispatch(Member* self, const Chunk& chunk) noexcept {
  if (self->tool.work == 0) return 0;
  dispatch_static(self, self->loop.base + chunk.begin * self->loop.step, chunk.end - chunk.begin);
  if (self->tool.work == ompt_work_sections) return 0;
  const weft_callback_chunks_untold_t unwatched = g_chunks_unreported.load(std::memory_order_acquire);
  return unwatched != nullptr ? unwatched() : 0;
}

void chunks_left(uint32_t chunks) noexcept {
  if (const weft_callback_chunks_left_t left = g_chunks_left.load(std::memory_order_acquire)) left(chunks);
}

void dispatch_static(Member* self, uint64_t first, uint64_t count) noexcept {
  ompt_data_t instance{};
  if (self->tool.work == ompt_work_sections) {
    instance.ptr = const_cast<void*>(caller_of(self));
    for (uint64_t i = 0; i < count; ++i) tell_dispatch(self, ompt_dispatch_section, instance);
    return;
  }
  ompt_dispatch_chunk_t dealt{first, count};
  instance.ptr = &dealt;
  const bool distributed = self->tool.work == ompt_work_distribute;
  tell_dispatch(self, distributed ? ompt_dispatch_distribute_chunk : ompt_dispatch_ws_loop_chunk, instance);
}

void begin_masked(Member* self, const void* caller) noexcept {
  const Entry entry(caller);
  masked(ompt_scope_begin, self);
}

void end_masked(Member* self, const void* caller) noexcept {
  const Entry entry(caller);
  masked(ompt_scope_end, self);
}

}  // namespace weft::openmp::ompt
