// SPDX-License-Identifier: Apache-2.0
// What the runtime tells becomes records of the caller's log.
#pragma once

#include <cstdint>

#include "base/traced_call.h"
#include "observe/record/sink/sink.h"
#include "observe/record/trace/log.h"

namespace weft::observe::trace {

extern const Events kTraceEvents;

// Before the first event.
void prepare_events(const RuntimeCalls& runtime) noexcept;

// A call that has waited for other processes.
void note(const base::TracedCall& call) noexcept;

// Newest first.
const Log* logs() noexcept;

// The time by the clock of the records.
int64_t now() noexcept;

}  // namespace weft::observe::trace
