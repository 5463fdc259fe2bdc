// SPDX-License-Identifier: Apache-2.0
// Which regions push explicit tasks, learned by their outlined functions. In a team without a persistent team a member
// that has done its part leaves for other work. It cannot be called back, since the tasks of a region need the
// identities that have served it. So where tasks are to be expected, the members gather at the end, as in a barrier,
// and help.
#pragma once

namespace weft::openmp {

bool pushes_tasks(const void* function) noexcept;

// Notes whether the last region of this function has pushed tasks.
void note_tasks(const void* function, bool pushed) noexcept;

}  // namespace weft::openmp
