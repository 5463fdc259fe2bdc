// SPDX-License-Identifier: Apache-2.0
// Calling members to help with explicit tasks: those that sleep in a wait of the team's, and those of a persistent team
// that have finished the region.
//
// Which members are called. A member that can be called stands in Team::on_call. That is a hint: the first task of a
// region puts all members there, since those that slept or left before have not been counted. A caller claims the
// member's `sleeper`, taken out by an exchange, or its `recalled` where it has left; so no member is called twice while
// others sleep.
//
// How many. A push calls one member, and none while one is on its way (Team::called). A member that arrives looks how
// much there is to do and calls two more at most. So one task calls one member, the producer of many pays for one call
// in a while, and n members are at work after log n steps.
//
// Nothing is missed. A push is followed by a fence and a look at `on_call` and `called`; a member that goes on call or
// arrives says so, fences, and looks for tasks. So one of the two sees the other.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// Tells one member, if need be, of a task that has been pushed. `by`: the member of the team that has pushed it, or
// null. A member need not be called itself; a stand-in's number may be that of a member that sleeps.
void call_to_tasks(Team* team, const Member* by) noexcept;

// The calling member, which has been called, is there: tells others, if there is more to do than it can. `stays`: it is
// going to run a task itself.
void answer_call(Member* self, bool stays) noexcept;

// The same by a member of a persistent team that looks for tasks outside of the region: if it has been called.
void answer_recall(Member* self) noexcept;

// Brackets the sleep of a member that can help; true: it has been called, and has to answer.
void fall_asleep(Member* self) noexcept;
bool wake_up(Member* self) noexcept;

// A member of a persistent team has finished the region. A look for tasks must follow.
void go_on_call(Member* self) noexcept;
// It has seen tasks and is going to run them. It may have been called by now.
void go_off_call(Member* self) noexcept;

// The first task of a region is about to be pushed by `self`; the region has no tasks any more, and nobody looks for
// them.
void open_calls(Member* self) noexcept;
void close_calls(Team* team) noexcept;

// Wakes all that sleep: what they wait for has come.
void wake_sleepers(Team* team) noexcept;

}  // namespace weft::openmp
