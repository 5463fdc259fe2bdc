// SPDX-License-Identifier: Apache-2.0
#include "openmp/record/team.h"

#include <algorithm>
#include <cstddef>
#include <new>

#include "base/keep_errno.h"
#include "base/message.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/settings/icv.h"
#include "openmp/task/dependences.h"
#include "openmp/team/root.h"
#include "openmp/tool/events.h"
#include "platform/thread_pointer.h"

namespace weft::openmp {

constinit thread_local Member* t_member = nullptr;
constinit thread_local Member* t_reported_member = nullptr;

namespace {

ptrdiff_t offset_of(Member** variable) noexcept {
  return reinterpret_cast<char*>(variable) - reinterpret_cast<char*>(platform::thread_pointer());
}

}  // namespace

[[gnu::used]] const ptrdiff_t g_member_offset = offset_of(&t_member);
[[gnu::used]] const ptrdiff_t g_reported_member_offset = offset_of(&t_reported_member);

void put_current_member(Member* member) noexcept {
  const bool reported = tool::is_active() && (member == nullptr || member->team->tool.reported);
  t_member = reported ? nullptr : member;
  t_reported_member = reported ? member : nullptr;
}

Member* attach_member() noexcept {
  if (t_reported_member != nullptr) return t_reported_member;
  const base::KeepErrno keep;
  Root* root = take_root();
  Member* member = &root->initial;
  root->team.root = root;
  member->team = &root->team;
  member->number = 0;
  member->outer = nullptr;
  member->task = &member->implicit;
  member->implicit.own_icvs = initial_icvs();
  member->implicit.icvs = &member->implicit.own_icvs;
  member->implicit.implicit = true;
  if (member->implicit.own_icvs.affinity) place_root(root);
  root->team.tool.reported = tool::is_present();
  make_current(member);
  tool::begin_root(member);
  return member;
}

Icvs& own_icvs(Member* member) noexcept {
  Task* task = member->task;
  if (task->icvs != &task->own_icvs) {
    task->own_icvs = *task->icvs;
    task->icvs = &task->own_icvs;
  }
  return task->own_icvs;
}

void enter_team(Member* member, Team* team, int number) noexcept {
  member->team = team;
  member->number = number;
  member->loops = team->first_loop;
  member->loop.share = nullptr;
  member->doacross = nullptr;
  member->extras = nullptr;
  member->singles = team->first_single;
  // Barriers are told apart by number across the regions of a record; nobody is inside one now.
  member->barriers = team->barrier.passed.load(std::memory_order_relaxed);
  member->context = core::current_context();
  member->task = &member->implicit;
  Task& task = member->implicit;
  task.icvs = &team->icvs;
  task.implicit = true;
  task.context = member->context;
  task.created = 0;
  task.done_here = 0;
  task.done_remote.store(0, std::memory_order_relaxed);
  task.group = nullptr;
  task.floor = INT64_MIN;
  task.final = false;
  task.uses_number = false;
  if (task.children != nullptr) task.children->clear();
  const std::atomic<TaskDeque*>* deques = team->members.deques.load(std::memory_order_relaxed);
  member->deque = deques != nullptr ? deques[number].load(std::memory_order_relaxed) : nullptr;
  member->lacks_deque = false;
}

void MemberTables::reserve(int size) noexcept {
  const int before = capacity.load(std::memory_order_relaxed);
  if (size <= before) return;
  const int wanted = std::max(size, 2 * before);
  auto* new_lines = new (std::nothrow) MemberLine[wanted];
  auto* new_deques = new (std::nothrow) std::atomic<TaskDeque*>[wanted]();
  auto* new_marks = new (std::nothrow) DequeMarks[static_cast<size_t>(DequeMarks::groups(wanted))];
  if (new_lines == nullptr || new_deques == nullptr || new_marks == nullptr)
    base::lacking("no memory for a team of %d threads", size);
  std::atomic<TaskDeque*>* old = deques.load(std::memory_order_relaxed);
  if (before > 0) outgrown = new (std::nothrow) Outgrown{lines, old, marks, outgrown};
  for (int i = 0; i < before; ++i) {
    new_deques[i].store(old[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  lines = new_lines;
  marks = new_marks;
  deques.store(new_deques, std::memory_order_relaxed);
  // Release: a thread that sees it looks at a table that has that many.
  capacity.store(wanted, std::memory_order_release);
}

void reserve_members(Team* team, int size) noexcept {
  if (size <= team->members.capacity.load(std::memory_order_relaxed)) return;
  team->members.reserve(size);
  if (!team->barrier.queue.reserve(team->members.capacity.load(std::memory_order_relaxed)))
    base::lacking("no memory for a team of %d threads", size);
}

}  // namespace weft::openmp
