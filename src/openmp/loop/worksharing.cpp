// SPDX-License-Identifier: Apache-2.0
#include "openmp/loop/worksharing.h"

#include <algorithm>
#include <cstdlib>

#include <sched.h>

#include "core/api/wait.h"
#include "openmp/loop/even_share.h"
#include "openmp/loop/iteration_wait.h"
#include "openmp/record/team.h"
#include "openmp/tool/events.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

using Kind = base::LoopSchedule::Kind;

bool next_static(Member* self, LoopCursor& loop, Chunk* chunk) noexcept {
  const auto members = static_cast<uint64_t>(self->team->size);
  const auto number = static_cast<uint64_t>(self->number);
  if (loop.chunk == 0) {
    if (loop.position != 0) return false;
    loop.position = 1;
    const EvenShare share = even_share(loop.count, sharers_of_team(self));
    chunk->begin = share.begin;
    chunk->end = share.end;
  } else {
    const uint64_t chunks = loop.count / loop.chunk + (loop.count % loop.chunk != 0 ? 1 : 0);
    if (loop.position >= chunks || number >= chunks - loop.position) return false;
    const uint64_t index = loop.position + number;
    loop.position += members;
    chunk->begin = index * loop.chunk;
    chunk->end = loop.count - chunk->begin > loop.chunk ? chunk->begin + loop.chunk : loop.count;
  }
  chunk->last = chunk->end == loop.count;
  return chunk->begin < chunk->end;
}

// The member that sets a record up takes a moment, if its thread has a CPU: where there are more threads than CPUs, it
// may need this one.
void await_set_up(const Member* self, const Workshare* share, uint32_t ready) noexcept {
  const auto is_set_up = [=] { return share->state.load(std::memory_order_acquire) == ready; };
  constexpr int kSpins = 64;
  for (int spins = 0; spins < kSpins; ++spins) {
    if (is_set_up()) return;
    platform::pause();
  }
  if (!core::spin_until(self->context, is_set_up) && !core::yield()) sched_yield();
}

// The members that are behind may need this CPU, and as long as they like.
void await_record(Member* self, Workshare* share, uint32_t ready) noexcept {
  await_iteration(self, share, kNoIteration, [=] {
    const uint32_t seen = share->state.load(std::memory_order_acquire);
    return seen % 2 == 1 || seen == ready;
  });
}

}  // namespace

Workshare* claim_workshare(Member* self, bool* first) noexcept {
  Team* team = self->team;
  const uint32_t number = ++self->loops;
  Workshare* share = &team->loops.ring[number % kLoopRing];
  const uint32_t ready = 2 * number;
  for (;;) {
    uint32_t seen = share->state.load(std::memory_order_acquire);
    if (seen == ready) return share;
    if (seen == ready - 1) {
      await_set_up(self, share, ready);
      continue;
    }
    // Odd and older: all members have left what the record served before; those of a cancelled region may never do.
    if (seen % 2 == 1 || team->cancelled.load(std::memory_order_relaxed)) {
      if (share->state.compare_exchange_strong(seen, ready - 1, std::memory_order_acquire)) {
        share->left.store(0, std::memory_order_relaxed);
        share->turn.store(0, std::memory_order_relaxed);
        share->groups = 0;
        *first = true;
        return share;
      }
      continue;
    }
    await_record(self, share, ready);
  }
}

void open_workshare(Workshare* share) noexcept {
  share->state.store(share->state.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

namespace {

// Whether the caller is the last one to leave. Acquire and release: it passes on that all others are done with the
// record. In large teams the last one of each group counts for it.
bool is_last_to_leave(const Member* self, Workshare* share) noexcept {
  const int size = self->team->size;
  const int groups = share->groups;
  if (groups == 0) return share->left.fetch_add(1, std::memory_order_acq_rel) == size - 1;
  const int group = self->number / kMembersInGroup;
  const int members = std::min(kMembersInGroup, size - group * kMembersInGroup);
  ChunkRange& line = share->ranges.load(std::memory_order_relaxed)[group];
  if (line.left.fetch_add(1, std::memory_order_acq_rel) != members - 1) return false;
  return share->left.fetch_add(1, std::memory_order_acq_rel) == groups - 1;
}

}  // namespace

void leave_workshare(Member* self, Workshare* share) noexcept {
  const uint32_t number = share->state.load(std::memory_order_relaxed) / 2;
  if (!is_last_to_leave(self, share)) return;
  std::free(share->posted);
  share->posted = nullptr;
  std::free(share->memory);
  share->memory = nullptr;
  // A member that waits for the record is seen here, or sees the new state.
  share->state.exchange(2 * number + 1);
  platform::full_fence_after_update();
  call_waiters(self->team, share, kNoIteration);
}

void enter_loop(Member* self, const base::LoopSchedule& schedule, uint64_t chunk, uint64_t count, bool shared,
                bool reported) noexcept {
  LoopCursor& loop = self->loop;
  const bool is_static = schedule.kind == Kind::static_ || schedule.kind == Kind::auto_;
  const bool whole = self->team->size == 1;
  loop.count = count;
  loop.position = 0;
  loop.share = nullptr;
  loop.from = whole ? LoopCursor::kWhole : is_static ? LoopCursor::kSchedule : LoopCursor::kShare;
  if (reported) loop.from |= LoopCursor::kReported;
  loop.chunk = schedule.kind == Kind::auto_ ? 0 : chunk;
  if (!is_static) loop.chunk = std::max<uint64_t>(chunk, 1);
  if (whole || (is_static && !shared)) return;
  loop.share = join_workshare(self, [&](Workshare* share) {
    share_dynamic_loop(share, schedule, loop.chunk, count, self->team->size);
    // Where iterations have an order, members wait for the chunks of others.
    const bool by_counter = share->kind == Kind::dynamic && !share->split && !shared && self->doacross == nullptr;
    if (by_counter && self->team->size >= ChunkGroups::kLeastMembers) share_by_groups(share);
  });
  if (loop.share->kind != Kind::dynamic || loop.share->split || !counts_freely(loop.share)) return;
  if (loop.share->groups == 0) {
    loop.from |= LoopCursor::kCounter;
  } else {
    loop.from |= LoopCursor::kGroups;
    loop.group = {};
  }
}

void enter_loop_of_region(Member* self) noexcept {
  LoopCursor& loop = self->loop;
  Workshare* share = &self->team->loops.region;
  loop.count = share->count;
  loop.chunk = share->chunk;
  loop.position = 0;
  loop.share = share;
  const bool by_counter = share->kind == Kind::dynamic && !share->split && counts_freely(share);
  loop.from = by_counter ? LoopCursor::kCounter : LoopCursor::kShare;
}

void enter_sections(Member* self, uint64_t count, bool reported) noexcept {
  base::LoopSchedule in_order{};
  in_order.kind = Kind::dynamic;
  in_order.monotonic = true;
  enter_loop(self, in_order, 1, count, false, reported);
  self->loop.base = 0;
  self->loop.step = 1;
}

namespace {

[[gnu::always_inline]] inline bool take_chunk(Member* self, int from, Chunk* chunk) noexcept {
  LoopCursor& loop = self->loop;
  if ((from & LoopCursor::kGroups) != 0) {
    return next_of_group(loop.share, loop.group, self->number, self->team->size, chunk);
  }
  if ((from & (LoopCursor::kSchedule | LoopCursor::kWhole)) == 0) {
    return next_of_share(loop.share, self->number, loop.position, chunk);
  }
  if (from == LoopCursor::kSchedule) return next_static(self, loop, chunk);
  if (loop.position != 0 || loop.count == 0) return false;
  loop.position = 1;
  *chunk = {0, loop.count, true};
  return true;
}

// Of a loop that a tool has been told of.
[[gnu::noinline, gnu::cold]] bool take_reported_chunk(Member* self, Chunk* chunk) noexcept {
  LoopCursor& loop = self->loop;
  const int from = loop.from & ~LoopCursor::kReported;
  if (!tool::is_on()) return take_chunk(self, from, chunk);
  if (loop.unreported > 0) {
    if (take_chunk(self, from, chunk)) {
      --loop.unreported;
      return true;
    }
    tool::chunks_left(loop.unreported);
    loop.unreported = 0;
    return false;
  }
  tool::enter_call();
  const bool taken = take_chunk(self, from, chunk);
  if (taken) loop.unreported = tool::dispatch(self, *chunk);
  tool::leave_call();
  return taken;
}

}  // namespace

bool next_chunk(Member* self, Chunk* chunk) noexcept {
  const int from = self->loop.from;
  return (from & LoopCursor::kReported) == 0 ? take_chunk(self, from, chunk) : take_reported_chunk(self, chunk);
}

bool loop_exhausted(const Member* self) noexcept {
  const Workshare* share = self->loop.share;
  if (share == nullptr || (self->loop.from & LoopCursor::kSchedule) != 0) return false;
  if ((self->loop.from & LoopCursor::kGroups) != 0 && !self->loop.group.empty()) return false;
  const uint64_t next = share->next.load(std::memory_order_relaxed);
  const ChunkRange* ranges = share->ranges.load(std::memory_order_relaxed);
  if (!share->split) {
    if (next < share->count) return false;
    return std::all_of(ranges, ranges + share->groups, [](const ChunkRange& range) { return range.is_over(); });
  }
  if (next == 0) return false;  // the last chunk is left
  return std::all_of(ranges, ranges + self->team->size, [](const ChunkRange& range) { return range.empty(); });
}

void exit_loop(Member* self) noexcept {
  Workshare* share = self->loop.share;
  if (share == nullptr) return;
  self->loop.share = nullptr;
  // That of the region is nobody else's: it need not be told that the member has done with it.
  if (__builtin_expect(share != &self->team->loops.region, 1)) leave_workshare(self, share);
}

bool enter_single(Member* self) noexcept {
  Team* team = self->team;
  if (team->size == 1) return true;
  const uint32_t number = self->singles++;
  // Relaxed: this only decides which member executes; the construct's barrier orders the rest.
  uint32_t next = team->loops.next_single.load(std::memory_order_relaxed);
  if (next != number) return false;
  return team->loops.next_single.compare_exchange_strong(next, number + 1, std::memory_order_relaxed);
}

}  // namespace weft::openmp
