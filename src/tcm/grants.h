// SPDX-License-Identifier: Apache-2.0
// What every permit is granted, and what of the pool is held for that. With the lock (records.h).
#pragma once

#include "tcm/permits.h"

namespace weft::tcm {

// Divides the CPUs anew. `asker`: the permit about which the caller asks.
void settle_for(const Permit* asker) noexcept;

// Holds as many slots of the pool as the workers of all permits use.
void hold() noexcept;

}  // namespace weft::tcm
