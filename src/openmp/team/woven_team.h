// SPDX-License-Identifier: Apache-2.0
// Woven teams: nested ones, and those of roots without a persistent team. Their members are offered to every carrier,
// and run by the ones that have time. Internal to openmp/team.
#pragma once

#include <algorithm>

#include "core/api/fork.h"
#include "core/api/records.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/record/record_cache.h"
#include "openmp/settings/icv.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task.h"
#include "openmp/task/task_calls.h"
#include "openmp/task/task_regions.h"
#include "openmp/task/task_wait.h"
#include "openmp/team/barrier.h"
#include "openmp/team/cancel.h"
#include "openmp/team/parallel.h"
#include "openmp/team/region_watch.h"
#include "openmp/tool/events.h"
#include "platform/fence.h"

namespace weft::openmp {

template <bool Told>
void run_woven(core::ParallelCall* parallel_call, int index) {
  auto* team = static_cast<Team*>(parallel_call);
  Member* member = take_frame();
  member->outer = Told ? current_member() : t_member;
  enter_team(member, team, index);
  if (team->icvs.affinity) take_place(member);
  make_current<Told>(member);
  if (ompt::on<Told>()) ompt::begin_member(member);
  reinterpret_cast<Invoke>(team->words[0])(team->words.data(), index);
  if (team->gathers) pass_barrier(member);
  if (team->tasks.tasked.load(std::memory_order_relaxed)) {
    help_with_tasks(member);
    // Children count themselves in this implicit task, whose record serves again.
    await_children(member);
  }
  if (ompt::on<Told>()) ompt::end_member(member, false);
  make_current<Told>(member->outer);
  put_frame(member);
}

inline void set_up(Team* team, Member* parent, int size, void* const* words) noexcept {
  team->size = size;
  team->tasks.marks_filled.store(wants_marks(size), std::memory_order_relaxed);
  team->level = parent->team->level + 1;
  team->active_level = parent->team->active_level + (size > 1 ? 1 : 0);
  team->parent = parent;
  team->icvs = icvs(parent);
  enter_level(team->icvs, team->level);
  inherit_league(team, parent);
  std::copy_n(words, team->words.size(), team->words.begin());
  reserve_members(team, size);
}

// Waits for the other members at the end of the region, and runs tasks that they push meanwhile.
inline void join_members(Member* primary) noexcept {
  Team* team = primary->team;
  const auto joined_all = [team] { return team->pending.load(std::memory_order_acquire) == 0; };
  if (holds_up_others(primary)) {
    // It leaves to others what nobody has claimed: whoever waits for one of those here is to be told of its pauses.
    team->sleeper.store(primary->context, std::memory_order_release);
    platform::full_fence();
    wait_helping(primary, joined_all);
    core::join(team);
    return;
  }
  if (!team->tasks.tasked.load(std::memory_order_relaxed) && core::join(team, team->tasks.tasked)) return;
  help_with_tasks(primary);
  // Members that no carrier has claimed go first; a member that pushes a task is to find this one all the same.
  fall_asleep(primary);
  const bool joined = core::join(team, team->tasks.tasked);
  if (wake_up(primary)) answer_call(primary, !joined);
  if (joined) return;
  // Against the last of the members, as in join().
  team->sleeper.store(primary->context, std::memory_order_release);
  platform::full_fence();
  wait_helping(primary, joined_all);
  core::join(team);
}

// `primary` is the record of member 0. `words` and `size` as of parallel().
// `prepare` as of parallel_of_some(); null: all members take part.
template <bool Told>
void begin_woven_team(Member* parent, int size, void* const* words, base::ProcBind bind, Member* primary,
                      Prepare prepare) noexcept {
  core::Context* context = core::attach();
  if (context->home != nullptr) core::enter_region(context, size);
  std::atomic<bool>& nests = parent->team->nests;
  if (!nests.load(std::memory_order_relaxed)) nests.store(true, std::memory_order_relaxed);
  Team* team = take_team();
  set_up(team, parent, size, words);
  team->call = run_woven<Told>;
  // To a tool a barrier would be one more.
  // Of members that may be left out it cannot be asked.
  team->gathers = !ompt::on<Told>() && prepare == nullptr && pushes_tasks(words[1]);
  team->flat = false;
  team->defers_alone = false;
  team->persistent_team = nullptr;
  primary->outer = parent;
  enter_team(primary, team, 0);
  if (team->icvs.affinity) begin_placement(primary, parent, bind);
  watch(team, size, context, words);
  if (ompt::on<Told>()) ompt::begin_parallel(team, parent);
  team->partial = prepare != nullptr;
  team->started = prepare != nullptr ? prepare(team, words) : size;
  core::publish(team, team->started);
  make_current<Told>(primary);
}

template <bool Told>
void end_woven_team(Member* primary) noexcept {
  Team* team = primary->team;
  if (ompt::on<Told>()) ompt::end_primary(primary, false);
  if (team->gathers) pass_barrier(primary);
  if (team->partial) core::withdraw(team);
  join_members(primary);
  const bool tasked = team->tasks.tasked.load(std::memory_order_relaxed);
  if (tasked || team->gathers) note_tasks(team->words[1], tasked);
  if (tasked) drain_at_end(primary);
  if (team->policy.site != nullptr) end_watched(team);
  end_watch(primary);
  forget_cancelled_loop(team);
  if (team->cancelled.load(std::memory_order_relaxed)) restore_after_cancellation(team, primary);
  team->first_loop = primary->loops;
  team->first_single = primary->singles;
  if (ompt::on<Told>()) ompt::end_parallel(primary);
  make_current<Told>(primary->outer);
  if (primary->context->home != nullptr) core::leave_region(primary->context);
  put_team(team);
}

}  // namespace weft::openmp
