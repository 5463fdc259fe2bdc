// SPDX-License-Identifier: Apache-2.0
// What the runtime tells becomes frames and counts of the caller's record.
#pragma once

#include "observe/record/sink/sink.h"

namespace weft::observe {

extern const Events kProfileEvents;

// Before the first event.
void prepare_events(const RuntimeCalls& runtime) noexcept;

// Once, before the first event (scale.h).
void measure_chunk() noexcept;

// The CPUs that the program may use at once.
int cpus() noexcept;

// Whether the process has a thread of the recorder's now (weft_set_tool_threads).
void count_sampler(bool runs) noexcept;

}  // namespace weft::observe
