// SPDX-License-Identifier: Apache-2.0
// What each permit is granted, and how many slots of the pool are held for that. Called with the lock held (records.h).
#pragma once

#include "tcm/permits.h"

namespace weft::tcm {

// Divides the CPUs anew. `asker`: the permit about which the caller asks.
void settle_for(const Permit* asker) noexcept;

// Holds as many slots of the pool as the workers of all permits use.
void hold() noexcept;

}  // namespace weft::tcm
