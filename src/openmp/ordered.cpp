// SPDX-License-Identifier: Apache-2.0
#include "openmp/ordered.h"

#include <cstdlib>

#include "base/message.h"
#include "core/scheduler.h"
#include "openmp/ompt/events.h"
#include "openmp/team.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// Waits until `ready()`, which others make true for iteration `number` and then call.
template <class Ready>
void wait_in_line(Member* self, LoopShare* share, uint64_t number, Ready&& ready) noexcept {
  MemberLine& line = self->team->lines[self->number];
  const Team* team = self->team;
  const auto over = [&] { return ready() || team->cancelled.load(std::memory_order_relaxed); };
  while (!core::spin_until(self->context, over)) {
    // Relaxed: the fence stands between the announcement and the last look, as on the other side. Release: with the
    // context comes the number.
    line.awaited.store(number, std::memory_order_relaxed);
    line.in_line.store(self->context, std::memory_order_release);
    share->in_line.fetch_add(1);
    platform::full_fence_after_update();
    if (!over()) core::block();
    line.in_line.store(nullptr, std::memory_order_relaxed);
    share->in_line.fetch_sub(1, std::memory_order_relaxed);
  }
}

// Iteration `number` may be waited for no more.
void call(const Team* team, const LoopShare* share, uint64_t number) noexcept {
  platform::full_fence();
  if (share->in_line.load(std::memory_order_relaxed) == 0) return;
  for (int i = 0; i < team->size; ++i) {
    core::Context* waiter = team->lines[i].in_line.load(std::memory_order_acquire);
    if (waiter != nullptr && team->lines[i].awaited.load(std::memory_order_relaxed) == number) core::unblock(waiter);
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
  call(self->team, loop.share, loop.unit_end);
  loop.unit_begin = loop.unit_end;
}

constexpr uint64_t kBits = 64;

bool has_posted(const LoopShare* share, uint64_t number) noexcept {
  const uint64_t word = share->posted[number / kBits].load(std::memory_order_acquire);
  return (word >> (number % kBits) & 1) != 0;
}

}  // namespace

void begin_ordered_loop(Member* self, const base::LoopSchedule& schedule, uint64_t chunk, uint64_t count) noexcept {
  begin_shared_loop(self, schedule, chunk, count);
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

void begin_doacross(Member* self, uint64_t count) noexcept {
  if (self->team->size == 1) return;
  self->doacross = join_share(self, [count](LoopShare* share) {
    const uint64_t words = count / kBits + 1;
    // Pages that nobody posts to are never there.
    share->posted = static_cast<std::atomic<uint64_t>*>(std::calloc(words, sizeof(uint64_t)));
    if (share->posted == nullptr) {
      base::fatal("no memory for a doacross loop of %llu iterations", static_cast<unsigned long long>(count));
    }
  });
}

void end_doacross(Member* self) noexcept {
  LoopShare* share = self->doacross;
  if (share == nullptr) return;
  self->doacross = nullptr;
  leave_share(self, share);
}

void post_iteration(Member* self, uint64_t number) noexcept {
  LoopShare* share = self->doacross;
  if (share == nullptr) return;
  share->posted[number / kBits].fetch_or(uint64_t{1} << (number % kBits), std::memory_order_release);
  call(self->team, share, number);
}

void wait_for_iteration(Member* self, uint64_t number) noexcept {
  LoopShare* share = self->doacross;
  if (share == nullptr || has_posted(share, number)) return;
  wait_in_line(self, share, number, [share, number] { return has_posted(share, number); });
}

}  // namespace weft::openmp
