// SPDX-License-Identifier: Apache-2.0
// What some worksharing constructs have beside their iterations: reductions of tasks, and memory that all members
// share.
#pragma once

#include "openmp/task/reduction_blocks.h"

namespace weft::openmp {

struct Member;

// Begins the construct's extras: `reductions`, in a taskgroup of the construct's own, and `*memory` bytes, zeroed, for
// all members, of which *memory becomes the address. Either may be null.
void begin_extras(Member* self, Words* reductions, void** memory) noexcept;

// Nothing if the member is in no construct that has some.
void end_extras(Member* self) noexcept;

// The same for a construct with reductions, after the members have combined their copies. A barrier has to
// follow, unless the construct is cancelled.
void end_extras_with_reductions(Member* self) noexcept;

}  // namespace weft::openmp
