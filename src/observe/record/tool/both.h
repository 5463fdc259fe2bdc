// SPDX-License-Identifier: Apache-2.0
// Both sinks at once: `weft report --trace`.
#pragma once

#include "observe/record/sink/sink.h"

namespace weft::observe {

// Each event goes to both. All regions are told, since the trace shows them all.
extern const Events kEventsOfBoth;

// What the trace is to call, to whom each region's data are its own alone.
RuntimeCalls calls_for_trace(const RuntimeCalls& runtime) noexcept;

}  // namespace weft::observe
