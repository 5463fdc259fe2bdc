// SPDX-License-Identifier: Apache-2.0
// Contexts that leave their carrier. Internal to core; block() and unblock() themselves are in scheduler.h.
#pragma once

#include "core/context/context.h"

namespace weft::core {

// Leaves `self` to another context that is ready, or to a free one, which is made if need be. Returns false where the
// system refuses that.
bool leave(Context* self, Departure departure) noexcept;

// Brings a root's context, which may run as a guest on a worker, back to its own OS thread.
void return_home(Context* root) noexcept;

}  // namespace weft::core
