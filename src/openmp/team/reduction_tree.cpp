// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/reduction_tree.h"

#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/task/stand_in.h"
#include "openmp/team/cancel.h"
#include "platform/cycles.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// Stands for a part that is being combined: its member may not leave, also where the region is cancelled.
char g_taken;

// Waits at `line`, which is the member's, until others have made `ready()` true and woken it. It runs no tasks here,
// since it may hold what they need; where tasks may be paused a stand-in does.
template <class Ready>
void wait_for_others(Member* self, MemberLine& line, Ready&& ready) noexcept {
  while (!core::spin_until(self->context, ready)) {
    // Release: with the context comes its state. Between this and what is waited for stands a fence on both sides.
    line.in_line.store(self->context, std::memory_order_release);
    platform::full_fence();
    block_in_task_unless(self, ready);
    line.in_line.store(nullptr, std::memory_order_relaxed);
  }
}

void wake(const MemberLine& line) noexcept {
  platform::full_fence();
  if (core::Context* waiter = line.in_line.load(std::memory_order_acquire)) core::unblock(waiter);
}

void take_part(Member* self, int from, void* into, Combine combine) noexcept {
  const Team* team = self->team;
  MemberLine& theirs = team->members.lines[from];
  void* part = nullptr;
  wait_for_others(self, team->members.lines[self->number], [&] {
    // Acquire: what the member has put into its part is seen.
    part = theirs.part.load(std::memory_order_acquire);
    return part != nullptr || is_over(team);
  });
  // Its member takes it back when the region is cancelled. Relaxed: it has been acquired.
  if (part == nullptr || !theirs.part.compare_exchange_strong(part, &g_taken, std::memory_order_relaxed)) return;
  combine(into, part);
  // Release: the member, which may write there again, comes after the combination.
  theirs.part.store(nullptr, std::memory_order_release);
  wake(theirs);
}

}  // namespace

bool combine_parts(Member* self, void* part, Combine combine) noexcept {
  const Team* team = self->team;
  const int number = self->number;
  for (int spread = 1; spread < team->size; spread *= 2) {
    if ((number & spread) != 0) {
      team->members.lines[number].part.store(part, std::memory_order_release);
      wake(team->members.lines[number - spread]);
      return false;
    }
    if (number + spread < team->size) take_part(self, number + spread, part, combine);
  }
  return true;
}

void await_taken(Member* self) noexcept {
  const Team* team = self->team;
  MemberLine& mine = team->members.lines[self->number];
  const auto taken = [&mine] { return mine.part.load(std::memory_order_acquire) == nullptr; };
  wait_for_others(self, mine, [&] { return taken() || is_over(team); });
  void* part = mine.part.load(std::memory_order_acquire);
  if (part == nullptr) return;
  // The region is cancelled. The member that combines the part now is about to be done.
  if (part != &g_taken && mine.part.compare_exchange_strong(part, nullptr, std::memory_order_relaxed)) return;
  while (!taken()) platform::pause();
}

// The teams are run by the members of a region, each by member number % members, in the order of their numbers. So the
// first one that has not combined is always under way.
void LeagueTurn::await(const Member* self) noexcept {
  Member* runner = self->team->parent;
  if (runner->team->size == 1) return;
  const int number = self->team->league.number;
  // Acquire: what the teams before have combined is seen.
  wait_for_others(runner, runner->team->members.lines[runner->number],
                  [this, number] { return next_.load(std::memory_order_acquire) == number; });
}

void LeagueTurn::pass(const Member* self) noexcept {
  const Team* runners = self->team->parent->team;
  if (runners->size == 1) return;
  const int next = self->team->league.number + 1;
  next_.store(next, std::memory_order_release);
  wake(runners->members.lines[next % runners->size]);
}

}  // namespace weft::openmp
