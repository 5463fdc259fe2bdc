// SPDX-License-Identifier: Apache-2.0
#include "openmp/loop/ordered.h"

#include <cstdlib>

#include "base/message.h"
#include "core/core.h"
#include "openmp/ompt/events.h"
#include "openmp/team/team.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// Waits until `ready()`, which others make true for iteration `number` and then call.
template <class Ready>
void wait_in_line(Member* self, LoopShare* share, uint64_t number, Ready&& ready) noexcept {
  MemberLine& line = self->team->members.lines[self->number];
  const Team* team = self->team;
  const auto over = [&] { return ready() || team->cancelled.load(std::memory_order_relaxed); };
  while (!core::spin_until(self->context, over)) {
    // Relaxed: the fence stands between the announcement and the last look, as on the other side. Release: with the
    // context comes the number.
    line.awaited.store(number, std::memory_order_relaxed);
    line.in_line.store(self->context, std::memory_order_release);
    share->in_line.fetch_add(1);
    platform::full_fence_after_update();
    core::block_unless(over);
    line.in_line.store(nullptr, std::memory_order_relaxed);
    share->in_line.fetch_sub(1, std::memory_order_relaxed);
  }
}

// Iteration `number` may be waited for no more; a fence stands between that and this.
void call(const Team* team, const LoopShare* share, uint64_t number) noexcept {
  if (share->in_line.load(std::memory_order_relaxed) == 0) return;
  for (int i = 0; i < team->size; ++i) {
    core::Context* waiter = team->members.lines[i].in_line.load(std::memory_order_acquire);
    if (waiter != nullptr && team->members.lines[i].awaited.load(std::memory_order_relaxed) == number)
      core::unblock(waiter);
  }
}

void await_turn(Member* self) noexcept {
  LoopShare* share = self->loop.share;
  const uint64_t mine = self->loop.unit_begin;
  // Acquire: what the ordered regions before did is seen.
  wait_in_line(self, share, mine, [share, mine] { return share->turn.load(std::memory_order_acquire) == mine; });
}

void pass_turn(Member* self) noexcept {
  LoopCursor& loop = self->loop;
  loop.share->turn.store(loop.unit_end, std::memory_order_release);
  platform::full_fence();
  call(self->team, loop.share, loop.unit_end);
  loop.unit_begin = loop.unit_end;
}

// The bits of the iterations that have posted lie in lanes, the rows of the nest in turn: members that have
// neighbouring rows, as a rule different ones, write to different cache lines.
constexpr uint64_t kBits = 64;
constexpr uint64_t kLanes = 64;
constexpr uint64_t kLineWords = 8;

struct Place {
  uint64_t word;
  uint64_t bit;
};

Place place_of(const LoopShare* share, const Iteration& iteration) noexcept {
  const uint64_t column = iteration.number - iteration.row * share->row_length;
  const uint64_t bit = iteration.row / kLanes * share->row_length + column;
  return {iteration.row % kLanes * share->lane_words + bit / kBits, uint64_t{1} << (bit % kBits)};
}

bool has_posted(const LoopShare* share, const Place& place) noexcept {
  // Acquire: what was done before the post is seen.
  return (share->posted[place.word].load(std::memory_order_acquire) & place.bit) != 0;
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
  if (ompt::on()) return ompt::begin_ordered(self);
  await_ordered(self);
}

void await_ordered(Member* self) noexcept {
  const LoopCursor& loop = self->loop;
  if (loop.share != nullptr && loop.unit_begin != loop.unit_end) await_turn(self);
}

void end_ordered(Member* self) noexcept {
  if (ompt::on()) ompt::end_ordered(self);
  const LoopCursor& loop = self->loop;
  // An iteration has one ordered region at most.
  if (loop.share != nullptr && loop.unit_end - loop.unit_begin == 1) pass_turn(self);
}

void check_doacross_loops(int loops) noexcept {
  if (loops <= Member::kDoacrossLoops) return;
  base::fatal("a doacross loop nest has %d loops; at most %d are supported", loops, Member::kDoacrossLoops);
}

void begin_doacross(Member* self, uint64_t rows, uint64_t row_length) noexcept {
  if (self->team->size == 1) return;
  self->doacross = join_share(self, [rows, row_length](LoopShare* share) {
    const uint64_t bits = (rows / kLanes + 1) * row_length;
    share->row_length = row_length;
    share->lane_words = (bits / kBits + kLineWords) / kLineWords * kLineWords;
    // Pages that nobody posts to are never there.
    share->posted = static_cast<std::atomic<uint64_t>*>(std::calloc(kLanes * share->lane_words, sizeof(uint64_t)));
    if (share->posted == nullptr) {
      base::lacking("no memory for a doacross loop of %llu x %llu iterations", static_cast<unsigned long long>(rows),
                    static_cast<unsigned long long>(row_length));
    }
  });
}

void end_doacross(Member* self) noexcept {
  LoopShare* share = self->doacross;
  if (share == nullptr) return;
  self->doacross = nullptr;
  leave_share(self, share);
}

void post_iteration(Member* self, const Iteration& iteration) noexcept {
  LoopShare* share = self->doacross;
  if (share == nullptr) return;
  const Place place = place_of(share, iteration);
  share->posted[place.word].fetch_or(place.bit);
  platform::full_fence_after_update();
  call(self->team, share, iteration.number);
}

void wait_for_iteration(Member* self, const Iteration& iteration) noexcept {
  LoopShare* share = self->doacross;
  if (share == nullptr) return;
  const Place place = place_of(share, iteration);
  wait_in_line(self, share, iteration.number, [share, place] { return has_posted(share, place); });
}

}  // namespace weft::openmp
