// SPDX-License-Identifier: Apache-2.0
// Of which functions of regions that are combined with a loop members may be left out: those that meet no barrier and
// push no tasks. A function whose variables are firstprivate and lastprivate meets a barrier before the loop, each
// time; the others never do. Tasks may be work for members that get no iterations.
#pragma once

#include "openmp/gomp/gomp.h"

namespace weft::openmp::gomp {

// Whether that is known. Only functions of the program itself become known: where a library has been, another one with
// other functions may come to be.
bool may_leave_out(Function function) noexcept;

// A region of this function, of more than one member, has met no barrier and pushed no tasks.
void note_alone(Function function) noexcept;

// One has pushed tasks: all members of the next ones are called.
void note_with_tasks(Function function) noexcept;

}  // namespace weft::openmp::gomp
