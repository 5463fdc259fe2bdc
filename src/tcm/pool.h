// SPDX-License-Identifier: Apache-2.0
// weft's runtime, if it is in the process. Without it permits have all CPUs of the process.
#pragma once

#include "core/budget/guest_link.h"

namespace weft::tcm {

// The functions of the runtime; null: it is not there.
const core::PoolSide* pool() noexcept;

// How many CPUs permits and the pool may use together.
int cpus() noexcept;

// Whether the user wants guests counted, and statistics at the end.
bool welcome() noexcept;
bool statistics() noexcept;

}  // namespace weft::tcm
