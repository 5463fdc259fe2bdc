// SPDX-License-Identifier: Apache-2.0
// Calls of clients: each learns what has changed for its permits.
#pragma once

#include "tcm/permits.h"

namespace weft::tcm {

// With the lock: the client learns what holds from what its own call returns.
void know(Permit& permit) noexcept;

// With the lock: a permit whose client does not know what holds, or null. Those that have to give come first.
Permit* untold() noexcept;

// Without the lock: tells clients until none is left to be told.
void tell() noexcept;

// Without the lock: waits until calls for the permit, which is not in use any more, have ended. Not for that which the
// caller is in.
void await_calls(const Permit* permit) noexcept;

// Whether the caller is in a call for the permit.
bool is_called_for(const Permit* permit) noexcept;

}  // namespace weft::tcm
