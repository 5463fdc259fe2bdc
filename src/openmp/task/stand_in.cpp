// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/stand_in.h"

#include "core/api/fork.h"
#include "core/api/wait.h"
#include "openmp/record/record_cache.h"
#include "openmp/task/own_number.h"
#include "openmp/task/task.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_run.h"
#include "openmp/task/task_take.h"
#include "openmp/tool/events.h"
#include "platform/fence.h"

namespace weft::openmp {

constinit std::atomic<bool> g_tasks_may_pause{false};

namespace {

// The caller's context gives its number's deque up; it does not touch the deque until it has taken it again.
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
  // What is pushed from now on descends from what runs here.
  const int64_t floor = member->deque != nullptr ? member->deque->bottom() : 0;
  for (Task* task = member->task; task != nullptr && !task->implicit; task = task->parent) {
    if (task->context == member->context) task->floor = floor;
  }
}

// Where several contexts of a number are active, makes the caller's inactive and returns true; otherwise false.
bool is_too_many(SharedNumber* shared) noexcept {
  int active = shared->active.load();
  while (active > 1) {
    if (shared->active.compare_exchange_weak(active, active - 1)) return true;
  }
  return false;
}

// Counts the caller's number as unmanned, and returns whether no context would be left to run the team's tasks.
// Sequentially consistent: of members that leave at the same time, one sees that it is the last. In a team whose
// members do not wait for each other, the other members may have left for good.
bool leaves_nobody(Team* team) noexcept {
  const bool stay = team->persistent_team != nullptr || team->gathers;
  return team->tasks.unmanned.fetch_add(1) + 1 >= team->started || !stay;
}

// Makes the caller's context inactive; its number is counted as unmanned already. Where another context of the number
// has come back meanwhile, that count is taken back.
void leave_number(Team* team, SharedNumber* shared) noexcept {
  if (shared->active.fetch_sub(1) != 1) team->tasks.unmanned.fetch_sub(1);
}

// Called by a stand-in between two tasks: it leaves the number if a paused task counts on the number and other members
// are there to run the team's tasks. Returns whether it has become inactive.
bool leaves_to_owner(Team* team, SharedNumber* shared) noexcept {
  // Relaxed: a stand-in that sees it late runs one task more.
  if (shared->wanted_back.load(std::memory_order_relaxed) == 0) return false;
  if (leaves_nobody(team)) {
    team->tasks.unmanned.fetch_sub(1);
    return false;
  }
  leave_number(team, shared);
  return true;
}

bool is_to_leave(Team* team, SharedNumber* shared) noexcept {
  return is_too_many(shared) || leaves_to_owner(team, shared);
}

// The stand-in sleeps until it is called. A member that comes back, or that pushes a task, says so, fences, and looks
// for the sleeper. The stand-in writes `sleeper`, fences, and looks for both: so one of the two sees the other.
void sleep_on_call(Member* member, SharedNumber* shared) noexcept {
  Team* team = member->team;
  const auto too_many = [&] { return shared->active.load(std::memory_order_relaxed) > 1; };
  const auto news = [&] { return too_many() || tasks_in_sight(team); };
  unsigned polls = 0;
  // Looking at the deques takes their lines from the members that push: not at every poll.
  if (core::spin_until(member->context, [&] { return too_many() || (++polls % 8 == 0 && tasks_in_sight(team)); }))
    return;
  shared->sleeper.store(member->context, std::memory_order_release);
  platform::full_fence();
  go_on_call(member);
  give_up_deque(member, shared);
  core::block_unless(news);
  // The number stays on call: the member, if it has come back and has finished the region, may be on call itself.
  const bool called = shared->sleeper.exchange(nullptr, std::memory_order_acq_rel) == nullptr;
  if (called) answer_call(member, shared->active.load(std::memory_order_relaxed) == 1);
}

// Runs a task, if there is one and the stand-in is not to leave. The stand-in takes the task first and then looks
// whether it is to leave: the member may have come back and pushed this very task since, which could take the number
// that the member goes on with. Such a task is put back. Taking it is an acquire, so the stand-in sees that the member
// is back.
bool run_if_it_stays(Member* member, SharedNumber* shared, bool* leaves) noexcept {
  Task* task = take_any_task(member);
  if (task != nullptr) *leaves = is_to_leave(member->team, shared);
  if (!*leaves) return run_taken(member, task);
  put_back(member, task);
  return false;
}

void serve(Member* member, SharedNumber* shared) noexcept {
  Team* team = member->team;
  for (bool leaves = false; !leaves;) {
    leaves = is_to_leave(team, shared);
    take_deque(member, shared);
    if (!leaves && run_if_it_stays(member, shared, &leaves)) continue;
    if (leaves) tell_ends(member);
    // The last task of the team may have been one that this stand-in has run. With the fence, one of the contexts that
    // find no task sees that all have been executed. Members that sleep until then are on call.
    platform::full_fence();
    if (!team->tasks.on_call.empty(team->size) && all_executed(team)) wake_sleepers(team);
    if (!leaves) sleep_on_call(member, shared);
  }
  // A call for a task may have gone to this stand-in in place of the member. It leaves, so it calls another one.
  go_on_call(member);
  if (tasks_in_sight(team)) call_to_tasks(team, nullptr);
}

void stand_in(void* argument) noexcept {
  auto* shared = static_cast<SharedNumber*>(argument);
  Team* team = shared->team;
  Member* before = current_member();
  Member* member = take_frame();
  member->outer = before;
  enter_team(member, team, shared->number);
  member->stands_in = true;
  member->numbered = 0;
  member->deque = nullptr;
  member->lacks_deque = true;
  make_current(member);
  tool::begin_stand_in(member);
  serve(member, shared);
  give_up_deque(member, shared);
  tool::end_stand_in(member);
  member->stands_in = false;
  make_current(before);
  put_frame(member);
  // Release: what it has done is seen by the member that ends the region.
  team->tasks.helpers.fetch_sub(1, std::memory_order_release);
}

// Launches a stand-in in the place of the caller, whose context is active; from now on the stand-in's is. Returns false
// where the system refuses another thread.
bool call_stand_in(Member* self, SharedNumber* shared) noexcept {
  Team* team = self->team;
  shared->team = team;
  shared->number = self->number;
  core::Context* context = core::make_context(stand_in, shared, 0);
  if (context == nullptr) return false;
  give_up_deque(self, shared);
  // Relaxed: launching it is a release. The caller is inside the region, which so does not end meanwhile.
  team->tasks.helpers.fetch_add(1, std::memory_order_relaxed);
  // Relaxed: the stand-in sees it, and so does the caller when it comes back.
  shared->has_been_shared.store(true, std::memory_order_relaxed);
  core::launch(context);
  return true;
}

// Whether members of the team may wait for others of it and hold up a team around.
bool is_inside(const Team* team) noexcept {
  return team->persistent_team == nullptr || defers_tasks(team->parent->team);
}

// Counts a member of the team as away. Only the first one wakes others: members that begin to hold up others later see
// the count.
void tell_away(Team* team) noexcept {
  if (team->tasks.away.fetch_add(1) == 0 && team->tasks.holding_up.load() > 0) wake_sleepers(team);
}

// Whether there are tasks that a stand-in could run, now or later. In a team of one no other member can create some.
// Relaxed: a context that has counted itself as unmanned sees what others had pushed before they counted themselves.
bool may_have_tasks(const Team* team) noexcept {
  return team->tasks.tasked.load(std::memory_order_relaxed) && (team->size > 1 || !all_executed(team));
}

void depart_from_number(Member* member, bool keeps_number) noexcept {
  Team* team = member->team;
  SharedNumber& shared = shared_number(member);
  // A task that has begun under the number may wait for the number.
  give_number(member);
  if (is_too_many(&shared)) {
    give_up_deque(member, &shared);
    member->leave.wants_number = keeps_number;
    // Relaxed: a hint to the one that is active.
    if (keeps_number) shared.wanted_back.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (!keeps_number && may_have_tasks(team) && call_stand_in(member, &shared)) return;
  // The caller counts first and then looks for tasks: where another member pushes a task and leaves, the later of the
  // two sees both.
  const bool nobody_is_left = leaves_nobody(team);
  if ((nobody_is_left || !keeps_number) && may_have_tasks(team) && call_stand_in(member, &shared)) {
    // The stand-in is active in the place of the caller, so the number is manned.
    team->tasks.unmanned.fetch_sub(1);
    return;
  }
  // Relaxed: as above.
  if (keeps_number) {
    member->leave.wants_number = true;
    shared.wanted_back.fetch_add(1, std::memory_order_relaxed);
  }
  leave_number(team, &shared);
}

void come_back_to_number(Member* member) noexcept {
  SharedNumber& shared = shared_number(member);
  if (shared.active.fetch_add(1) == 0) member->team->tasks.unmanned.fetch_sub(1);
  if (member->leave.wants_number) shared.wanted_back.fetch_sub(1, std::memory_order_relaxed);
  platform::full_fence_after_update();
  // The stand-in wakes and sees that it is one too many.
  if (core::Context* sleeper = shared.sleeper.load(std::memory_order_acquire)) core::unblock(sleeper);
  take_deque(member, &shared);
}

void depart(Member* member, bool keeps_number) noexcept {
  Leave& leave = member->leave;
  leave = {.away = true, .counted = has_stand_ins(member)};
  if (leave.counted) depart_from_number(member, keeps_number);
  leave.announced = member->number >= 0 && member->team->parent != nullptr && is_inside(member->team);
  if (leave.announced) tell_away(member->team);
}

void come_back(Member* member) noexcept {
  // Relaxed: members that see it late are away a moment longer.
  if (member->leave.announced) member->team->tasks.away.fetch_sub(1, std::memory_order_relaxed);
  if (member->leave.counted) come_back_to_number(member);
  member->leave = {};
}

}  // namespace

// Members below one that is away are away already.
Member* depart_all(Member* first, bool (*keeps_number)(const Member*) noexcept) noexcept {
  Member* member = first;
  for (; member != nullptr && !member->leave.away; member = member->outer) depart(member, keeps_number(member));
  return member;
}

void come_back_all(Member* first, const Member* end) noexcept {
  for (Member* member = first; member != end; member = member->outer) come_back(member);
}

Absence::Absence(Member* self) noexcept : first_(self), end_(depart_all(self, counts_on_number)) {}

Absence::~Absence() {
  come_back_all(first_, end_);
  if (end_ != first_) take_numbers_again(first_);
}

LockWait::LockWait(Member* self) noexcept : first_(self), end_(nullptr), agent_(self) {
  if (first_ == nullptr) return;
  attach_to_pool(first_);
  end_ = depart_all(first_, [](const Member*) noexcept { return true; });
}

LockWait::~LockWait() {
  come_back_all(first_, end_);
  if (end_ != first_) take_numbers_again(first_);
}

bool let_awaited_go_on(Member* self) noexcept {
  for (const Member* member = self; member != nullptr; member = member->outer) {
    TeamTasks& tasks = member->team->tasks;
    if (tasks.holding_up.load() > 0 && !tasks.looks.exchange(true)) wake_sleepers(member->team);
  }
  return lend_numbers(self);
}

void take_free_deque(Member* self) noexcept {
  if (has_stand_ins(self)) take_deque(self, &shared_number(self));
}

void let_paused_go_on(Member* self) noexcept {
  core::poll_between_work();
  if (!core::wanted_elsewhere(self->context)) return;
  // Relaxed: a stand-in of its own that it does not know of has not run yet.
  const bool shares = self->task->implicit && has_stand_ins(self) &&
                      shared_number(self).has_been_shared.load(std::memory_order_relaxed);
  if (shares) give_up_deque(self, &shared_number(self));
  core::yield();
  if (shares) take_deque(self, &shared_number(self));
}

}  // namespace weft::openmp
