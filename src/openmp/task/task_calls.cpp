// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/task_calls.h"

#include <algorithm>

#include "core/api/fork.h"
#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/record/team.h"
#include "openmp/task/task_deque.h"
#include "openmp/task/task_take.h"
#include "platform/fence.h"

namespace weft::openmp {

namespace {

// A member that arrives calls this many others.
constexpr int kFanOut = 2;

// How many tasks wait, counted up to what one member can make use of.
int tasks_at_hand(const Team* team) noexcept {
  constexpr int kEnough = kFanOut + 1;
  int tasks = team->tasks.inbox.size();
  if (tasks >= kEnough) return tasks;
  look_at_deques(team, 0, [&](int number) {
    const TaskDeque* deque = deque_at(team, number);
    if (deque != nullptr) tasks += static_cast<int>(std::clamp<int64_t>(deque->size(), 0, kEnough));
    return tasks >= kEnough;
  });
  return tasks;
}

// Nudges a member of a persistent team. A member that has finished the region comes back for it; returns true. A member
// that has not finished yet looks for nudges by itself when it has.
bool recall(Team* team, int number) noexcept {
  MemberLine& line = team->members.lines[number];
  if (team->persistent_team->has_finished(number)) {
    // A member answers once, however often it has been called before it comes: a stand-in may have put its number on
    // call again. Relaxed: the nudge is a release.
    if (!line.recalled.exchange(true, std::memory_order_relaxed)) team->tasks.called.fetch_add(1);
    team->persistent_team->nudge(number);
    return true;
  }
  team->persistent_team->nudge(number);
  return false;
}

bool claim_sleeper(Team* team, std::atomic<core::Context*>& sleeper) noexcept {
  if (sleeper.load(std::memory_order_relaxed) == nullptr) return false;
  // Acquire: with the pointer comes what it points to.
  core::Context* context = sleeper.exchange(nullptr, std::memory_order_acq_rel);
  if (context == nullptr) return false;
  team->tasks.called.fetch_add(1);
  core::unblock(context);
  return true;
}

bool claim(Team* team, int number) noexcept {
  MemberLine& line = team->members.lines[number];
  if (claim_sleeper(team, line.sleeper) || claim_sleeper(team, line.shared.sleeper)) return true;
  return team->persistent_team != nullptr && number > 0 && recall(team, number);
}

constexpr int kNoCaller = -1;

int caller_number(const Member* by) noexcept { return by != nullptr && !by->stands_in ? by->number : kNoCaller; }

bool call_one(Team* team, int caller) noexcept {
  const int from = caller + 1 < team->size ? caller + 1 : 0;
  for (;;) {
    const int number = team->tasks.on_call.take(from, team->size, [caller](int other) { return other != caller; });
    if (number < 0) return false;
    if (claim(team, number)) return true;
  }
}

}  // namespace

void call_to_tasks(Team* team, const Member* by) noexcept {
  platform::full_fence();
  if (by != nullptr && !by->lacks_deque) mark_filled(team, by->number);
  if (team->tasks.on_call.empty(team->size) || team->tasks.called.load(std::memory_order_relaxed) > 0) return;
  call_one(team, caller_number(by));
}

void answer_call(Member* self, bool stays) noexcept {
  Team* team = self->team;
  const int others = team->tasks.called.fetch_sub(1) - 1;
  platform::full_fence_after_update();
  if (team->tasks.on_call.empty(team->size)) return;
  int more = std::min(kFanOut, tasks_at_hand(team) - (stays ? 1 : 0) - others);
  while (more > 0 && call_one(team, caller_number(self))) --more;
}

void answer_recall(Member* self) noexcept {
  std::atomic<bool>& recalled = self->team->members.lines[self->number].recalled;
  if (recalled.load(std::memory_order_relaxed) && recalled.exchange(false)) answer_call(self, true);
}

void fall_asleep(Member* self) noexcept {
  Team* team = self->team;
  // Release, and acquire there: with the pointer comes what it points to.
  team->members.lines[self->number].sleeper.store(self->context, std::memory_order_release);
  platform::full_fence();
  // Before the first task of the region no member needs to go on call: its producer puts all members there.
  if (!team->tasks.tasked.load(std::memory_order_relaxed)) return;
  team->tasks.on_call.add(self->number);
  platform::full_fence_after_update();
}

bool wake_up(Member* self) noexcept {
  Team* team = self->team;
  if (team->tasks.on_call.has(self->number)) team->tasks.on_call.remove(self->number);
  return team->members.lines[self->number].sleeper.exchange(nullptr, std::memory_order_acq_rel) == nullptr;
}

void go_on_call(Member* self) noexcept {
  self->team->tasks.on_call.add(self->number);
  platform::full_fence_after_update();
}

void go_off_call(Member* self) noexcept {
  if (self->team->tasks.on_call.has(self->number)) self->team->tasks.on_call.remove(self->number);
}

void open_calls(Member* self) noexcept {
  self->team->tasks.on_call.add_all(self->team->started);
  // The producer is not on call itself: otherwise the set would never be empty, and each of its pushes would look at
  // it.
  if (!self->stands_in) go_off_call(self);
}

void close_calls(Team* team) noexcept {
  team->tasks.on_call.remove_all(team->size);
  // Some members that have been called did not come in time.
  if (team->tasks.called.load(std::memory_order_relaxed) == 0) return;
  for (int i = 0; i < team->size; ++i) team->members.lines[i].recalled.store(false, std::memory_order_relaxed);
  team->tasks.called.store(0, std::memory_order_relaxed);
}

void wake_sleepers(Team* team) noexcept {
  for (int i = 0; i < team->size; ++i) {
    if (core::Context* sleeper = team->members.lines[i].sleeper.load(std::memory_order_acquire)) core::unblock(sleeper);
  }
}

}  // namespace weft::openmp
