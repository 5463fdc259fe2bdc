// SPDX-License-Identifier: Apache-2.0
// Gangs: calls that must all run at the same time, since they wait for each other in ways the scheduler cannot
// see. Offered work may wait until somebody has time; a gang may not.
#pragma once

#include "core/bundle.h"

namespace weft::core {

// Carriers that could start a call for the caller's root at once: idle ones, and those whose context only waits.
int idle_carriers() noexcept;

// The caller's carrier, as an index below kMaxCarriers.
int carrier_index() noexcept;

// Whether no other root holds a slot.
bool alone() noexcept;

// Counts OS threads that a gang needs beyond those that are idle; 0 as a rule. Until return_threads() they may
// run beside the CPU slots.
int lend_threads(int calls) noexcept;
void return_threads(int lent) noexcept;

// Sends `calls` carriers to claim from the published `bundle`.
void summon(Bundle* bundle, int calls) noexcept;

}  // namespace weft::core
