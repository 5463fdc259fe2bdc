// SPDX-License-Identifier: Apache-2.0
// Regions of one member. Inline: such a region costs some 20 ns. Internal to openmp/region.
#pragma once

#include "openmp/affinity/team_affinity.h"
#include "openmp/record/record_cache.h"
#include "openmp/region/inherit.h"
#include "openmp/region/primary.h"
#include "openmp/settings/icv.h"
#include "openmp/task/lone_tasks.h"
#include "openmp/task/task.h"
#include "openmp/team/cancel.h"

namespace weft::openmp {

class LoneRegion : public Primary {
 public:
  explicit LoneRegion(Member* primary = nullptr) noexcept : Primary(primary) {}

  void begin(const Opening& opening) noexcept { begin(opening.parent); }
  void begin(Member* parent) noexcept;
  // There are no others.
  int gather(bool /*lends*/) noexcept { return 0; }
  void begin_others(void* const*, int) noexcept {}
  void end() noexcept;
};

[[gnu::always_inline]] inline void LoneRegion::begin(Member* parent) noexcept {
  Member* member = primary_ = take_frame();
  Team* team = take_team(RegionKind::lone);
  team->size = 1;
  team->level = parent->team->level + 1;
  team->active_level = parent->team->active_level;
  team->parent = parent;
  team->icvs = icvs(parent);
  enter_level(team->icvs, team->level);
  inherit_league(team, parent);
  member->outer = parent;
  enter_team(member, team, 0);
  if (team->icvs.affinity) begin_placement(member, parent, base::ProcBind::false_);
  const tool::Listener listener = tool::listener();
  tool::begin_parallel(listener, team, parent);
  continue_as(member, listener);
}

[[gnu::always_inline]] inline void LoneRegion::end() noexcept {
  Member* member = primary_;
  Team* team = member->team;
  const tool::Listener listener = tool::listener();
  tool::end_primary(listener, member, false);
  if (team->defers_alone) {
    end_deferring(member);
  } else if (team->tasks.detachable.load(std::memory_order_relaxed)) {
    await_events(member);
  }
  forget_cancelled_loop(team);
  team->cancelled.store(false, std::memory_order_relaxed);
  team->first_loop = member->loops;
  team->first_single = member->singles;
  tool::end_parallel(listener, member);
  continue_as(member->outer, listener);
  put_team(team);
  put_frame(member);
}

}  // namespace weft::openmp
