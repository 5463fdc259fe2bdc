// SPDX-License-Identifier: Apache-2.0
// Two barriers. Where all members run at once: dissemination, ceil(log2 n) rounds in which member i signals member i +
// 2^r; in a large team the firsts of groups do so. The words of two successive barriers alternate, so a signal cannot
// be overwritten before it is read: a member that is two barriers ahead has had this member's signal of the barrier
// between. Elsewhere: a counter; the last to arrive makes all others ready, at once where there are no explicit tasks
// to run.
#include "openmp/team/barrier.h"

#include <algorithm>

#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/record/team.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task.h"
#include "openmp/task/task_wait.h"
#include "openmp/team/cancel.h"
#include "openmp/team/cancelled_copies.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// Before this the signal just sent has hardly left the store buffer: no use in a fence.
constexpr int kPollsBeforeFence = 64;
// A member that is on its way has come by now. If not, it may well be waiting for this very CPU: there may be fewer
// CPUs than members.
constexpr int kPollsBeforeLook = 4;
// A large team passes by groups: so many members, or groups of them, to one, and so many at the top.
constexpr int kGroup = 8;
constexpr int kLeastForGroups = 32;
constexpr int kMostAtTop = 4;

void wake_if_asleep(const MemberLine& line) noexcept {
  if (core::Context* sleeper = line.sleeper.load(std::memory_order_acquire)) core::unblock(sleeper);
}

void wake_sleeper(const MemberLine& line) noexcept {
  // The signal is stored before, the sleeper looks after it has announced itself: one sees the other.
  platform::full_fence();
  wake_if_asleep(line);
}

// Behind a signal: waits for what `arrived` says. `wake_peer` fences, and wakes whom the signal is for.
template <class Arrived, class WakePeer>
void await(Member* self, Arrived&& arrived, WakePeer&& wake_peer) noexcept {
  bool passed = false;
  for (int polls = 0; polls < kPollsBeforeFence && !(passed = arrived()); ++polls) {
    if (polls == kPollsBeforeLook && core::wanted_elsewhere(self->context)) break;
    platform::pause();
  }
  wake_peer();
  if (!passed) wait_helping(self, arrived);
}

// Among `count` members, those of numbers 0, stride, 2 * stride ...; `place` is the caller's among them.
void disseminate(Member* self, int place, int count, int stride) noexcept {
  Team* team = self->team;
  const uint32_t number = self->barriers;
  const uint32_t parity = number % 2;
  MemberLine& mine = team->members.lines[self->number];
  for (int round = 0; (1 << round) < count; ++round) {
    int to = place + (1 << round);
    if (to >= count) to -= count;
    MemberLine& theirs = team->members.lines[to * stride];
    // Release and acquire: what a member did before the barrier is seen by those behind it.
    theirs.signal[parity].by_round[round].store(number, std::memory_order_release);
    const auto arrived = [&] {
      return mine.signal[parity].by_round[round].load(std::memory_order_acquire) == number || is_over(team);
    };
    await(self, arrived, [&theirs] { wake_sleeper(theirs); });
  }
}

// The firsts of the other parts of a group whose parts have `width` members each, `first` being the group's own.
template <class Visit>
void visit_others(const Team* team, int first, int width, Visit&& visit) noexcept {
  for (int part = 1; part < kGroup && first + part * width < team->size; ++part)
    visit(team->members.lines[first + part * width]);
}

bool have_arrived(const Team* team, int first, int width, uint32_t number) noexcept {
  bool all = true;
  visit_others(team, first, width,
               [&](const MemberLine& other) { all = all && other.arrived.load(std::memory_order_acquire) == number; });
  return all;
}

// Neighbours by number mostly run on neighbouring CPUs. The first of each group waits for the others of its group, the
// first of each group of groups for the firsts of the others, and so on until few are left, which meet by
// dissemination; then each lets go those that it has waited for. A member writes its next number only when it has been
// let go, so no number is overwritten before it has been read. Release and acquire as above.
void pass_by_groups(Member* self) noexcept {
  Team* team = self->team;
  const uint32_t number = self->barriers;
  MemberLine& mine = team->members.lines[self->number];
  int width = 1;
  const auto parts = [&] { return (team->size + width - 1) / width; };
  for (; parts() > kMostAtTop && self->number % (width * kGroup) == 0; width *= kGroup) {
    const auto arrived = [&] { return have_arrived(team, self->number, width, number) || is_over(team); };
    if (!arrived()) wait_helping(self, arrived);
  }
  if (parts() > kMostAtTop) {
    const int first = self->number - self->number % (width * kGroup);
    const MemberLine& firsts = team->members.lines[first];
    mine.arrived.store(number, std::memory_order_release);
    const auto let_go = [&] { return firsts.released.load(std::memory_order_acquire) == number || is_over(team); };
    await(self, let_go, [&] {
      // The member that arrives last sees that all have, and wakes a first that sleeps.
      platform::full_fence();
      if (firsts.sleeper.load(std::memory_order_relaxed) == nullptr) return;
      if (have_arrived(team, first, width, number) || is_over(team)) wake_if_asleep(firsts);
    });
  } else {
    disseminate(self, self->number / width, parts(), width);
  }
  if (width == 1) return;
  mine.released.store(number, std::memory_order_release);
  platform::full_fence();
  for (int below = 1; below < width; below *= kGroup) visit_others(team, self->number, below, wake_if_asleep);
}

void count(Member* self) noexcept {
  Team* team = self->team;
  const uint32_t number = ++self->barriers;
  if (team->barrier.arrived.fetch_add(1, std::memory_order_acq_rel) == team->size - 1) {
    team->barrier.arrived.store(0, std::memory_order_relaxed);
    team->barrier.passed.store(number, std::memory_order_release);
    platform::full_fence();
    team->barrier.queue.release();
    for (int i = 0; i < team->size; ++i) wake_if_asleep(team->members.lines[i]);
    return;
  }
  const auto passed = [&] {
    return static_cast<int32_t>(team->barrier.passed.load(std::memory_order_acquire) - number) >= 0 || is_over(team);
  };
  for (;;) {
    const uint32_t ticket = team->barrier.queue.ticket();
    // The member that pushes the first task releases the queue: from then on members are woken one by one, to help.
    // A member that waits in the queue is not told of pauses.
    if (team->tasks.tasked.load(std::memory_order_relaxed) || holds_up_others(self)) break;
    if (core::spin_until(self->context,
                         [&] { return passed() || team->tasks.tasked.load(std::memory_order_relaxed); })) {
      if (passed()) return;
      break;
    }
    if (!team->barrier.queue.wait(ticket)) break;
    if (passed()) return;
  }
  wait_helping(self, passed);
}

}  // namespace

void pass_barrier(Member* self) noexcept {
  Team* team = self->team;
  if (!defers_tasks(team)) {
    if (team->tasks.detachable.load(std::memory_order_relaxed)) await_events(self);
    // Alone, no barrier is counted that would make it stale.
    team->loops.cancelled.store(0, std::memory_order_relaxed);
    return;
  }
  if (is_over(team)) {
    if (self->copying) end_copies(self);
    return;
  }
  if (team->flat) {
    ++self->barriers;
    if (team->size < kLeastForGroups) {
      disseminate(self, self->number, team->size, 1);
    } else {
      pass_by_groups(self);
    }
  } else {
    count(self);
  }
  if (team->tasks.tasked.load(std::memory_order_relaxed)) drain_at_barrier(self);
}

}  // namespace weft::openmp
