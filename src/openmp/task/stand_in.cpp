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

// Who has it may be paused until others have run: the caller is absent meanwhile.
void take_number(Member* self, SharedNumber* shared) noexcept {
  uint32_t state = kFree;
  // Acquire and release: what one user has left behind the next one finds.
  if (shared->in_use.compare_exchange_strong(state, kUsed, std::memory_order_acquire, std::memory_order_relaxed))
    return;
  const Absence absence(self, false);
  while (shared->in_use.exchange(kAwaited, std::memory_order_acquire) != kFree) core::park(shared->in_use, kAwaited);
}

void give_number(SharedNumber* shared) noexcept {
  if (shared->in_use.exchange(kFree, std::memory_order_release) == kAwaited) core::unpark(shared->in_use, 1);
}

// Those of the tasks on the caller's stack.
void release_numbers_of(Member* self) noexcept {
  for (Task* task = self->task; task != nullptr && !task->implicit; task = task->parent) {
    if (task->context == self->context) release_number(self, task);
  }
}

// Whether the task that is paused, or one that waits for it to end, has asked.
bool counts_on_number(const Task* task) noexcept {
  while (!task->uses_number) {
    if (!task->undeferred) return false;
    task = task->parent.load(std::memory_order_relaxed);
  }
  return true;
}

// By a context that does not touch it until it has taken it again.
void give_up_deque(Member* member, SharedNumber* shared) noexcept {
  if (member->lacks_deque) return;
  member->lacks_deque = true;
  member->deque = nullptr;
  for (Task* task = member->task; task != nullptr && !task->implicit; task = task->parent) {
    if (task->context == member->context) task->floor = Task::kNoFloor;
  }
  shared->deque_is_free.store(true, std::memory_order_release);
}

void take_deque(Member* member, SharedNumber* shared) noexcept {
  // Relaxed: a first guess for the exchange.
  if (!member->lacks_deque || !shared->deque_is_free.load(std::memory_order_relaxed)) return;
  if (!shared->deque_is_free.exchange(false, std::memory_order_acquire)) return;
  member->lacks_deque = false;
  member->deque = deque_at(member->team, member->number);
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
  give_up_deque(member, shared);
  core::block_unless(news);
  if (team->tasks.on_call.has(member->number)) team->tasks.on_call.remove(member->number);
  const bool called = shared->sleeper.exchange(nullptr, std::memory_order_acq_rel) == nullptr;
  platform::full_fence_after_update();
  // The member that has come back may be on call under the same number; a task that came meanwhile has not called it.
  if (team->members.lines[member->number].sleeper.load(std::memory_order_relaxed) != nullptr) {
    go_on_call(member);
    if (tasks_in_sight(team)) call_to_tasks(team, kNoCaller);
  }
  if (called) answer_call(member, shared->active.load(std::memory_order_relaxed) == 1);
}

void serve(Member* member, SharedNumber* shared) noexcept {
  Team* team = member->team;
  for (bool leaves = false; !leaves;) {
    leaves = is_too_many(shared);
    take_deque(member, shared);
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
  member->lacks_deque = true;
  member->reduction_blocks = shared->reduction_blocks;
  make_current(member);
  if (ompt::on()) ompt::begin_stand_in(member);
  serve(member, shared);
  give_up_deque(member, shared);
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
  shared->reduction_blocks = self->reduction_blocks;
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

Absence::Absence(Member* self) noexcept : Absence(self, counts_on_number(self->task)) {}

Absence::Absence(Member* self, bool keeps_number) noexcept
    : self_(self), counted_(self->team->members.capacity.load(std::memory_order_relaxed) > 0) {
  if (counted_) leave(keeps_number);
}

void Absence::leave(bool keeps_number) noexcept {
  Team* team = self_->team;
  SharedNumber& shared = shared_number(self_);
  give_up_deque(self_, &shared);
  if (is_too_many(&shared)) {
    // The number is another's too by now. What that one waits for may be this task.
    release_numbers_of(self_);
    return;
  }
  const bool tasked = team->tasks.tasked.load(std::memory_order_relaxed);
  if (tasked && !keeps_number && call_stand_in(self_, &shared)) return;
  // Sequentially consistent: of members that leave at the same time one sees that it is the last. Those of a team that
  // is not persistent may have left for good.
  const bool is_last = team->tasks.unmanned.fetch_add(1) + 1 >= team->started || team->persistent_team == nullptr;
  if (tasked && keeps_number && is_last) {
    release_numbers_of(self_);
    // It is active in the place of the caller.
    if (call_stand_in(self_, &shared)) {
      team->tasks.unmanned.fetch_sub(1);
      return;
    }
  }
  // Another one may have come back just now.
  if (shared.active.fetch_sub(1) != 1) team->tasks.unmanned.fetch_sub(1);
}

Absence::~Absence() {
  if (!counted_) return;
  SharedNumber& shared = shared_number(self_);
  if (shared.active.fetch_add(1) == 0) self_->team->tasks.unmanned.fetch_sub(1);
  platform::full_fence_after_update();
  // It only looks whether it is one too many.
  if (core::Context* sleeper = shared.sleeper.load(std::memory_order_acquire)) core::unblock(sleeper);
  take_deque(self_, &shared);
}

void use_number(Member* self) noexcept {
  Task* task = self->task;
  if (task == nullptr || task->holds_number) return;
  task->uses_number = true;
  // An implicit task ends after all others.
  if (task->implicit || !self->team->tasks.tasked.load(std::memory_order_relaxed)) return;
  SharedNumber& shared = shared_number(self);
  if (!shared.has_been_shared.load(std::memory_order_relaxed)) return;
  take_number(self, &shared);
  task->holds_number = true;
}

void release_number(Member* self, Task* task) noexcept {
  if (!task->holds_number) return;
  task->holds_number = false;
  give_number(&shared_number(self));
}

void let_paused_go_on(Member* self) noexcept {
  core::poll_between_work();
  if (!core::wanted_elsewhere(self->context)) return;
  // Relaxed: a stand-in of its own that it does not know of has not run yet.
  const bool shares = self->task->implicit && self->team->members.capacity.load(std::memory_order_relaxed) > 0 &&
                      shared_number(self).has_been_shared.load(std::memory_order_relaxed);
  if (shares) give_up_deque(self, &shared_number(self));
  core::yield();
  if (shares) take_deque(self, &shared_number(self));
}

}  // namespace weft::openmp
