// SPDX-License-Identifier: Apache-2.0
// Places in regions: which member gets which, which is bound to it, and which says so (docs/explanation/openmp.md,
// Affinity). Regions come here only where icvs.affinity is set: threads are bound, or OMP_DISPLAY_AFFINITY is on.
#pragma once

#include "base/options.h"
#include "openmp/record/placement.h"

namespace weft::openmp {

struct Member;
struct Root;
struct Team;

// What the initial value of icvs.affinity is.
bool watches_affinity() noexcept;

// The place and the partition of a member; no place (-1) where threads are not bound.
ThreadPlace thread_place_of(const Member* member) noexcept;

// A thread that is new here gets its place. It is bound when its first region begins.
void place_root(Root* root) noexcept;

// Whether the caller, a root, has been bound so.
bool root_is_bound() noexcept;

// Before a region begins, by the member that will be its primary: where the members of `team` will be. `bind` is the
// proc_bind clause. True when that is new, or is to be shown.
bool set_placement(Team* team, Member* parent, int size, base::ProcBind bind) noexcept;

// Whether members of a persistent team of that size would share OS threads, since they share CPUs.
bool would_share_threads(Member* parent, int size) noexcept;

// A member of a region whose placement is set, at its beginning: is bound, if its team is one whose members are, and
// shows what is to be shown.
void take_place(Member* member) noexcept;

// Both, for a primary whose team is set up.
void begin_placement(Member* primary, Member* parent, base::ProcBind bind) noexcept;

// The initial thread of a team of a league stays where it is.
void inherit_place(Team* team, Member* parent) noexcept;

// A free agent belongs where the first member of the task's team does.
void place_agent(Team* team, const Team* home) noexcept;

}  // namespace weft::openmp
