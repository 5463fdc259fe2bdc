// SPDX-License-Identifier: Apache-2.0
// What the runtime tells becomes frames and counts of the caller's slot.
#pragma once

#include "weft/omp-tools.h"

namespace weft::profile {

// False where the runtime is not weft.
bool listen(ompt_function_lookup_t lookup) noexcept;

// Once, before the first event (scale.h).
void measure_chunk() noexcept;

// The CPUs that the program may use at once.
int cpus() noexcept;

// Whether the process has a thread of the recorder's now (weft_set_tool_threads).
void count_sampler(bool runs) noexcept;

}  // namespace weft::profile
