// SPDX-License-Identifier: Apache-2.0
#include "openmp/loop/ordered.h"

#include "openmp/loop/iteration_wait.h"
#include "openmp/record/team.h"
#include "openmp/tool/events.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

void await_turn(Member* self) noexcept {
  Workshare* share = self->loop.share;
  const uint64_t mine = self->loop.unit_begin;
  // Acquire: what the ordered regions before did is seen.
  await_iteration(self, share, mine, [share, mine] { return share->turn.load(std::memory_order_acquire) == mine; });
}

void pass_turn(Member* self) noexcept {
  LoopCursor& loop = self->loop;
  loop.share->turn.store(loop.unit_end, std::memory_order_release);
  platform::full_fence();
  call_waiters(self->team, loop.share, loop.unit_end);
  loop.unit_begin = loop.unit_end;
}

}  // namespace

void begin_ordered_loop(Member* self, const base::LoopSchedule& schedule, uint64_t chunk, uint64_t count) noexcept {
  begin_loop(self, schedule, chunk, count, true);
  self->loop.unit_begin = self->loop.unit_end = 0;
}

void begin_unit(Member* self, uint64_t begin, uint64_t end) noexcept {
  self->loop.unit_begin = begin;
  self->loop.unit_end = end;
}

void end_unit(Member* self) noexcept {
  const LoopCursor& loop = self->loop;
  if (loop.share == nullptr || loop.unit_begin == loop.unit_end) return;
  await_turn(self);
  pass_turn(self);
}

void begin_ordered(Member* self) noexcept {
  if (tool::begin_ordered(self)) return;
  await_ordered(self);
}

void await_ordered(Member* self) noexcept {
  const LoopCursor& loop = self->loop;
  if (loop.share != nullptr && loop.unit_begin != loop.unit_end) await_turn(self);
}

void end_ordered(Member* self) noexcept {
  tool::end_ordered(self);
  const LoopCursor& loop = self->loop;
  // An iteration has one ordered region at most.
  if (loop.share != nullptr && loop.unit_end - loop.unit_begin == 1) pass_turn(self);
}

}  // namespace weft::openmp
