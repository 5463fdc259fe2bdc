// SPDX-License-Identifier: Apache-2.0
#include "openmp/engine/engine_region.h"

#include "core/api/fork.h"
#include "openmp/record/record_cache.h"
#include "openmp/record/thread_limit.h"
#include "openmp/region/inherit.h"
#include "openmp/settings/startup.h"
#include "openmp/settings/statistics.h"
#include "openmp/task/task.h"

namespace weft::openmp {

namespace {

// What a thread of the engine's is between pieces; null in threads of the program. Pieces that take turns on one thread
// (user-level threads) do not end in the order of a stack, so what stood there before a piece says nothing.
constinit thread_local Member* t_between = nullptr;

Member* before_piece() noexcept {
  if (t_between != nullptr) return t_between;
  if (Member* member = current_member()) return member;
  return t_between = attach_member();
}

// Tasks may make it wait, which only threads that are attached can.
Member* attached_frame() noexcept {
  core::attach();
  return take_frame();
}

}  // namespace

bool EngineRegion::is_possible(Member* parent) noexcept {
  const Team* team = parent->team;
  if (team->active_level != 0 && team->kind != RegionKind::engine) return false;
  return !has_limit(parent);
}

void EngineRegion::begin(Member* parent, int size) noexcept {
  parent_ = parent;
  count_region(parent->team->level + 1);
  start_runtime();
  Team* team = team_ = take_team(RegionKind::engine);
  void* const words[core::Post::kWords] = {};
  set_up(team, parent, size, words);
  team->gathers = false;
  team->partial = true;
  team->started = size;
}

void EngineRegion::end() noexcept {
  // User-level threads may have run pieces here meanwhile.
  continue_as(parent_);
  if (team_->tasks.tasked.load(std::memory_order_relaxed)) {
    const EngineMember member(team_, 0);
    drain_at_end(self());
  }
  put_team(team_);
}

EngineMember::EngineMember(Team* team, int number) noexcept : before_(before_piece()), member_(attached_frame()) {
  member_->outer = before_;
  enter_team(member_, team, number);
  make_current(member_);
}

EngineMember::~EngineMember() {
  // Relaxed: its own tasks are what it waits for.
  if (member_->team->tasks.tasked.load(std::memory_order_relaxed)) {
    help_with_tasks(member_);
    // Children count themselves in this implicit task, whose record serves again.
    await_children(member_);
  }
  make_current(before_);
  put_frame(member_);
}

}  // namespace weft::openmp
