// SPDX-License-Identifier: Apache-2.0
// Pauses of a given length.
#pragma once

#include <cstdint>

#include "openmp/record/team.h"

namespace weft::openmp {

// Pauses the caller's task for `ns` nanoseconds or somewhat longer: a sleeping pool looks at the clock as it polls
// (core/sched/polling.h). The caller is attached to the pool (member_to_pause()).
void pause_for(Member* self, int64_t ns) noexcept;

}  // namespace weft::openmp
