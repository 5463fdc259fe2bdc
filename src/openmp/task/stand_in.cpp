// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/stand_in.h"

#include "core/core.h"
#include "openmp/ompt/events.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_take.h"
#include "openmp/team/record_cache.h"
#include "platform/fence.h"

namespace weft::openmp {

constinit std::atomic<bool> g_tasks_may_pause{false};

namespace {

SharedNumber& shared_number(const Member* member) noexcept {
  return member->team->members.lines[member->number].shared;
}

// States of SharedNumber::in_use, as of a lock that sleeps.
constexpr uint32_t kFree = 0;
constexpr uint32_t kUsed = 1;
constexpr uint32_t kAwaited = 2;

void take_number(SharedNumber* shared) noexcept {
  uint32_t state = kFree;
  // Acquire and release: what one user has left behind the next one finds.
  if (shared->in_use.compare_exchange_strong(state, kUsed, std::memory_order_acquire, std::memory_order_relaxed))
    return;
  while (shared->in_use.exchange(kAwaited, std::memory_order_acquire) != kFree) core::park(shared->in_use, kAwaited);
}

void give_number(SharedNumber* shared) noexcept {
  if (shared->in_use.exchange(kFree, std::memory_order_release) == kAwaited) core::unpark(shared->in_use, 1);
}

// Whether the task that is paused, or one that waits for it to end, has asked.
bool counts_on_number(const Task* task) noexcept {
  while (!task->uses_number) {
    if (!task->undeferred) return false;
    task = task->parent.load(std::memory_order_relaxed);
  }
  return true;
}

// Of several active contexts of a number, one is so no more: true, it is the caller.
bool is_too_many(SharedNumber* shared) noexcept {
  int active = shared->active.load();
  while (active > 1) {
    if (shared->active.compare_exchange_weak(active, active - 1)) return true;
  }
  return false;
}

// Against the member that comes back, and members that push tasks: each says so, fences, and looks for the sleeper.
void sleep_on_call(Member* member, SharedNumber* shared) noexcept {
  Team* team = member->team;
  const auto news = [&] { return shared->active.load(std::memory_order_relaxed) > 1 || tasks_in_sight(team); };
  if (core::spin_until(member->context, news)) return;
  shared->sleeper.store(member->context, std::memory_order_release);
  platform::full_fence();
  go_on_call(member);
  core::block_unless(news);
  if (team->tasks.on_call.has(member->number)) team->tasks.on_call.remove(member->number);
  const bool called = shared->sleeper.exchange(nullptr, std::memory_order_acq_rel) == nullptr;
  platform::full_fence_after_update();
  // The member that has come back may be on call under the same number.
  if (team->members.lines[member->number].sleeper.load(std::memory_order_relaxed) != nullptr) go_on_call(member);
  if (called) answer_call(member, shared->active.load(std::memory_order_relaxed) == 1);
}

void serve(Member* member, SharedNumber* shared) noexcept {
  Team* team = member->team;
  for (bool leaves = false; !leaves;) {
    leaves = is_too_many(shared);
    if (!leaves && run_any_task(member)) continue;
    // The last task of all may have been one of its own: with the fence one of those that find none sees that. Those
    // that wait for it in their sleep are on call.
    platform::full_fence();
    if (!team->tasks.on_call.empty(team->size) && all_executed(team)) wake_sleepers(team);
    if (!leaves) sleep_on_call(member, shared);
  }
}

void stand_in(void* argument) noexcept {
  auto* shared = static_cast<SharedNumber*>(argument);
  Team* team = shared->team;
  Member* before = current_member();
  Member* member = take_frame();
  member->outer = before;
  enter_team(member, team, shared->number);
  member->stands_in = true;
  member->deque = nullptr;
  make_current(member);
  if (ompt::on()) ompt::begin_stand_in(member);
  serve(member, shared);
  if (ompt::on()) ompt::end_stand_in(member);
  member->stands_in = false;
  make_current(before);
  put_frame(member);
  // Release: what it has done is seen by the member that ends the region.
  team->tasks.helpers.fetch_sub(1, std::memory_order_release);
}

// In the place of the caller, which is active and is not any more. False when the system refuses another thread.
bool call_stand_in(Member* self, SharedNumber* shared) noexcept {
  Team* team = self->team;
  shared->team = team;
  shared->number = self->number;
  core::Context* context = core::make_context(stand_in, shared, 0);
  if (context == nullptr) return false;
  // Relaxed: launching it is a release. The caller is inside the region, which so does not end meanwhile.
  team->tasks.helpers.fetch_add(1, std::memory_order_relaxed);
  // Relaxed: the stand-in sees it, and the caller's task has asked for its number by now or does so when it goes on.
  shared->has_been_shared.store(true, std::memory_order_relaxed);
  core::launch(context);
  return true;
}

}  // namespace

Absence::Absence(Member* self) noexcept : self_(self) {
  if (self->team->tasks.tasked.load(std::memory_order_relaxed)) kind_ = leave(counts_on_number(self->task));
}

Absence::Kind Absence::leave(bool keeps_number) noexcept {
  Team* team = self_->team;
  SharedNumber& shared = shared_number(self_);
  if (is_too_many(&shared)) return Kind::manned;
  if (keeps_number) {
    // Sequentially consistent: of members that leave at the same time one sees that it is the last. Those of a team
    // that is not persistent may have left for good.
    const bool is_last = team->tasks.unmanned.fetch_add(1) + 1 >= team->started || team->persistent_team == nullptr;
    if (!is_last) {
      shared.active.fetch_sub(1);
      return Kind::unmanned;
    }
    team->tasks.unmanned.fetch_sub(1);
    release_number(self_, self_->task);
  }
  if (call_stand_in(self_, &shared)) return Kind::manned;
  team->tasks.unmanned.fetch_add(1);
  shared.active.fetch_sub(1);
  return Kind::unmanned;
}

Absence::~Absence() {
  if (kind_ == Kind::idle) return;
  SharedNumber& shared = shared_number(self_);
  shared.active.fetch_add(1);
  if (kind_ == Kind::unmanned) self_->team->tasks.unmanned.fetch_sub(1);
  platform::full_fence_after_update();
  // It only looks whether it is one too many.
  if (core::Context* sleeper = shared.sleeper.load(std::memory_order_acquire)) core::unblock(sleeper);
}

void use_number(Member* self) noexcept {
  Task* task = self->task;
  if (task == nullptr || task->holds_number) return;
  task->uses_number = true;
  // An implicit task ends after all others.
  if (task->implicit || !self->team->tasks.tasked.load(std::memory_order_relaxed)) return;
  SharedNumber& shared = shared_number(self);
  if (!shared.has_been_shared.load(std::memory_order_relaxed)) return;
  take_number(&shared);
  task->holds_number = true;
}

void release_number(Member* self, Task* task) noexcept {
  if (!task->holds_number) return;
  task->holds_number = false;
  give_number(&shared_number(self));
}

void let_paused_go_on(const Member* self) noexcept {
  core::poll_between_work();
  if (core::wanted_elsewhere(self->context)) core::yield();
}

}  // namespace weft::openmp
