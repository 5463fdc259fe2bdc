// SPDX-License-Identifier: Apache-2.0
// What a region's team has from the member that meets the region.
#pragma once

#include <algorithm>

#include "openmp/record/team.h"
#include "openmp/settings/icv.h"
#include "openmp/task/task_take.h"

namespace weft::openmp {

inline void inherit_league(Team* team, const Member* parent) noexcept {
  const Team* outer = parent->team;
  if (team->league.size == outer->league.size && team->league.number == outer->league.number) return;
  team->league.size = outer->league.size;
  team->league.number = outer->league.number;
}

// Sets up the record of a team of several members. `words` as of parallel().
inline void set_up(Team* team, Member* parent, int size, void* const* words) noexcept {
  team->size = size;
  // Relaxed: the members are published after this, by a release.
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

}  // namespace weft::openmp
