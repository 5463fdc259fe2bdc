// SPDX-License-Identifier: Apache-2.0
// Members of parallel calls: the context that runs a claimed one. Internal to core.
#pragma once

#include "core/sched/parallel_call.h"

namespace weft::core {

// Runs a claimed member of a parallel call, and others of it while there are some.
void run_claimed(Context* self, ParallelCall* parallel_call, int index) noexcept;

}  // namespace weft::core
