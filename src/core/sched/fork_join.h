// SPDX-License-Identifier: Apache-2.0
// Calls that may run at the same time: offered, claimed, waited for. publish() and join() stand in scheduler.h,
// take_part() in gang.h. Internal to core.
#pragma once

#include "core/sched/pool.h"

namespace weft::core {

// Runs a claimed member of a parallel call, and others of it while there are some.
void run_claimed(Context* self, ParallelCall* parallel_call, int index) noexcept;

}  // namespace weft::core
