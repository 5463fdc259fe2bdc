// SPDX-License-Identifier: Apache-2.0
// Which functions of regions that are combined with a loop meet no barrier. Those whose variables are firstprivate and
// lastprivate meet one before the loop, each time; the others never do. A member of such a region may be left out only
// where there is none.
#pragma once

#include "openmp/gomp/gomp.h"

namespace weft::openmp::gomp {

// Whether that is known. Only functions of the program itself become known: where a library has been, another one with
// other functions may come to be.
bool is_without_barrier(Function function) noexcept;

// A region of this function, of more than one member, has met none.
void note_without_barrier(Function function) noexcept;

}  // namespace weft::openmp::gomp
