// SPDX-License-Identifier: Apache-2.0
// Outermost teams, which are persistent: their members keep their contexts from one region to the next. Internal to
// openmp/team.
#pragma once

#include "openmp/team/parallel.h"
#include "openmp/team/root.h"

namespace weft::openmp {

// The root whose persistent team may run a region of `parent`: nothing but regions of one member lies around it. Each
// team is looked at, since those of a league and of target regions count their levels from 0.
Root* outermost(const Member* parent) noexcept;

// `size` becomes what the system has threads for; false, and less than 2, when it has none. `prepare` as of
// parallel_of_some(); null: all members take part.
template <bool Told>
bool begin_outermost_team(Root* root, Member* parent, int& size, void* const* words, base::ProcBind bind,
                          Prepare prepare) noexcept;

// Members 1 .. started-1 of the root's persistent team begin.
void start_persistent_members(Root* root, void* const* words, int started) noexcept;

template <bool Told>
void end_outermost_team(Member* primary) noexcept;

// The calling identity ends: what it has kept as a member of a persistent team goes to others.
void end_persistent_member() noexcept;

}  // namespace weft::openmp
