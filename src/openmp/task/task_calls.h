// SPDX-License-Identifier: Apache-2.0
// Calls members to help with explicit tasks: members that sleep in a wait of the team's, and members of a persistent
// team that have finished the region.
//
// Which members. A member that can be called stands in TeamTasks::on_call. The set is a hint: the first task of a
// region puts all members there, since the set was not kept before. A caller claims a member that sleeps by an exchange
// of its `sleeper`. It recalls a member that has left the region by `recalled` and a nudge. So no member is called
// twice while others sleep.
//
// How many. A push calls one member, and none while one is on its way (TeamTasks::called). A member that arrives looks
// how many tasks there are, and calls two more members at most. So one task calls one member, the producer of many
// tasks pays for one call in a while, and n members are at work after log n steps.
//
// Nothing is missed. A push is followed by a fence and a look at `on_call` and `called`; a member that goes on call or
// arrives says so, fences, and looks for tasks. So one of the two sees the other.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// Calls one member, if need be, for a task that has been pushed. `by`: the member of the team that has pushed it, or
// null; it need not be called itself. Where `by` is a stand-in, its member may sleep and is called like any other.
void call_to_tasks(Team* team, const Member* by) noexcept;

// The calling member has been called and has come: it calls others, if there are more tasks than it can run. `stays`:
// it is going to run a task itself.
void answer_call(Member* self, bool stays) noexcept;

// The same by a member of a persistent team that has finished the region, if it has been recalled.
void answer_recall(Member* self) noexcept;

// Brackets the sleep of a member that can help. wake_up() returns whether the member has been called, and has to
// answer.
void fall_asleep(Member* self) noexcept;
bool wake_up(Member* self) noexcept;

// From now on the member can be called: it belongs to a persistent team and has finished the region. It must look for
// tasks after this.
void go_on_call(Member* self) noexcept;
// The member has seen tasks and is going to run them: it need not be called. It may have been called already.
void go_off_call(Member* self) noexcept;

// Puts all members on call: `self` is about to push the first task of a region.
void open_calls(Member* self) noexcept;
// Takes all members off call: the region has no tasks any more, and no member looks for them.
void close_calls(Team* team) noexcept;

// Wakes all members that sleep: what they wait for has come.
void wake_sleepers(Team* team) noexcept;

}  // namespace weft::openmp
