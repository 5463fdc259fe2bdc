// SPDX-License-Identifier: Apache-2.0
// The part of each carrier in what release_idle() has asked for. Internal to core.
#pragma once

#include "core/context/context.h"

namespace weft::core {

// By `self` that runs the scheduler's loop and has nothing to do. Returns the context that is to take its place, itself
// if its thread is to end, or null: it may sleep.
Context* release_before_sleep(Context* self) noexcept;

// The same by a context that waits in place.
void release_in_place(Context* self) noexcept;

}  // namespace weft::core
