// SPDX-License-Identifier: Apache-2.0
// What release_idle() and the monitor ask for, and the part of each carrier in that. Internal to core.
#pragma once

#include "core/context/context.h"

namespace weft::core {

struct Pool;

// By `self` that runs the scheduler's loop and has nothing to do. Returns the context that is to take its place, itself
// if its thread is to end, or null: it may sleep.
Context* release_before_sleep(Context* self) noexcept;

// The same by a context that waits in place.
void release_in_place(Context* self) noexcept;

// Free contexts that have served a region end with their identities, without a wait; others take their place when they
// are needed. What is in use is left alone, and so is what a root that is not at work has at hand. A worker does its
// part before it falls asleep; the caller wakes those that sleep. By the monitor.
void end_used_identities(Pool& p) noexcept;

}  // namespace weft::core
