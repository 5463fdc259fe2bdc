// SPDX-License-Identifier: Apache-2.0
// Calls of clients, by which each learns what has changed for its permits.
#pragma once

#include "tcm/permits.h"

namespace weft::tcm {

// Called with the lock: notes that the client knows the permit's state, since its own call returns it.
void know(Permit& permit) noexcept;

// Called with the lock. Returns a permit whose client does not know the permit's state, or null. Permits that have to
// give threads back come first.
Permit* find_uninformed() noexcept;

// Called without the lock: calls clients until each knows what holds for its permits.
void tell() noexcept;

// Without the lock: waits until calls for the permit, which is not in use any more, have ended. Does not wait for a
// call that the caller itself is in.
void await_calls(const Permit* permit) noexcept;

// Whether the caller is in a call for the permit.
bool is_called_for(const Permit* permit) noexcept;

}  // namespace weft::tcm
