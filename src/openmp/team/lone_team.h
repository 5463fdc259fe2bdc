// SPDX-License-Identifier: Apache-2.0
// Regions of one member. Internal to openmp/team.
#pragma once

#include "openmp/affinity/team_affinity.h"
#include "openmp/record/record_cache.h"
#include "openmp/settings/icv.h"
#include "openmp/task/lone_tasks.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task.h"
#include "openmp/team/cancel.h"
#include "openmp/team/region_watch.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

template <bool Told>
void begin_lone_team(Member* parent, Member* member) noexcept {
  Team* team = take_team();
  team->size = 1;
  team->level = parent->team->level + 1;
  team->active_level = parent->team->active_level;
  team->parent = parent;
  team->icvs = icvs(parent);
  enter_level(team->icvs, team->level);
  team->flat = false;
  team->defers_alone = false;
  team->lone = true;
  team->persistent_team = nullptr;
  inherit_league(team, parent);
  member->outer = parent;
  enter_team(member, team, 0);
  if (team->icvs.affinity) begin_placement(member, parent, base::ProcBind::false_);
  if (ompt::on<Told>()) ompt::begin_parallel(team, parent);
  make_current<Told>(member);
}

template <bool Told>
void end_lone_team(Member* member) noexcept {
  Team* team = member->team;
  if (ompt::on<Told>()) ompt::end_primary(member, false);
  if (team->defers_alone) {
    end_deferring(member);
  } else if (team->tasks.detachable.load(std::memory_order_relaxed)) {
    await_events(member);
  }
  forget_cancelled_loop(team);
  team->cancelled.store(false, std::memory_order_relaxed);
  team->first_loop = member->loops;
  team->first_single = member->singles;
  if (ompt::on<Told>()) ompt::end_parallel(member);
  make_current<Told>(member->outer);
  team->lone = false;
  put_team(team);
}

}  // namespace weft::openmp
