// SPDX-License-Identifier: Apache-2.0
// Two barriers. Where all members run at once: dissemination, ceil(log2 n) rounds in which member i signals member i +
// 2^r. The words of two successive barriers alternate, so a signal cannot be overwritten before it is read: a member
// that is two barriers ahead has had this member's signal of the barrier between. Elsewhere: a counter; the last to
// arrive makes all others ready, at once where there are no explicit tasks to run.
#include "openmp/team/barrier.h"

#include "core/core.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task_wait.h"
#include "openmp/team/team.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// Before this the signal just sent has hardly left the store buffer: no use in a fence.
constexpr int kPollsBeforeFence = 64;
// A member that is on its way has come by now. If not, it may well be waiting for this very CPU: there may be fewer
// CPUs than members.
constexpr int kPollsBeforeLook = 4;

// A cancelled region has no barriers: its members leave it from wherever they are.
bool is_over(const Team* team) noexcept { return team->cancelled.load(std::memory_order_relaxed); }

void wake_sleeper(MemberLine& line) noexcept {
  // The signal is stored before, the sleeper looks after it has announced itself: one sees the other.
  platform::full_fence();
  if (core::Context* sleeper = line.sleeper.load(std::memory_order_acquire)) core::unblock(sleeper);
}

void disseminate(Member* self) noexcept {
  Team* team = self->team;
  const uint32_t number = ++self->barriers;
  const uint32_t parity = number % 2;
  MemberLine& mine = team->members.lines[self->number];
  for (int round = 0; (1 << round) < team->size; ++round) {
    int to = self->number + (1 << round);
    if (to >= team->size) to -= team->size;
    MemberLine& theirs = team->members.lines[to];
    // Release and acquire: what a member did before the barrier is seen by those behind it.
    theirs.signal[parity][round].store(number, std::memory_order_release);
    const auto arrived = [&] {
      return mine.signal[parity][round].load(std::memory_order_acquire) == number || is_over(team);
    };
    bool passed = false;
    for (int polls = 0; polls < kPollsBeforeFence && !(passed = arrived()); ++polls) {
      if (polls == kPollsBeforeLook && core::wanted_elsewhere(self->context)) break;
      platform::pause();
    }
    wake_sleeper(theirs);
    if (!passed) wait_helping(self, arrived);
  }
}

void count(Member* self) noexcept {
  Team* team = self->team;
  const uint32_t number = ++self->barriers;
  if (team->barrier.arrived.fetch_add(1, std::memory_order_acq_rel) == team->size - 1) {
    team->barrier.arrived.store(0, std::memory_order_relaxed);
    team->barrier.passed.store(number, std::memory_order_release);
    platform::full_fence();
    team->barrier.queue.release();
    for (int i = 0; i < team->size; ++i) {
      if (core::Context* sleeper = team->members.lines[i].sleeper.load(std::memory_order_acquire)) {
        core::unblock(sleeper);
      }
    }
    return;
  }
  const auto passed = [&] {
    return static_cast<int32_t>(team->barrier.passed.load(std::memory_order_acquire) - number) >= 0 || is_over(team);
  };
  for (;;) {
    const uint32_t ticket = team->barrier.queue.ticket();
    // The member that pushes the first task releases the queue: from then on members are woken one by one, to help.
    // Who waits in the queue is not told of pauses.
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
  if (is_over(team)) return;
  if (team->flat) {
    disseminate(self);
  } else {
    count(self);
  }
  if (team->tasks.tasked.load(std::memory_order_relaxed)) drain_at_barrier(self);
}

}  // namespace weft::openmp
