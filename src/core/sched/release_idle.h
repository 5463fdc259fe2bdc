// SPDX-License-Identifier: Apache-2.0
// The requests of release_idle() and of the monitor to give back what is idle, and each carrier's part in them.
// Internal to core.
#pragma once

#include "core/context/context.h"

namespace weft::core {

struct Pool;

// Called by `self`, which runs the scheduler's loop and has nothing to do. Returns the context that is to take its
// place, or `self` if its thread is to end; null: it may sleep.
Context* release_before_sleep(Context* self) noexcept;

// The same for a context that waits in place.
void release_in_place(Context* self) noexcept;

// Called by the monitor. Free contexts that have served a region end with their identities, without a wait; others are
// made when they are needed. Contexts in use are left alone, and so are those at hand of a root that is not at work. A
// worker does its part before it falls asleep; the caller wakes the workers that sleep.
void end_used_identities(Pool& p) noexcept;

}  // namespace weft::core
