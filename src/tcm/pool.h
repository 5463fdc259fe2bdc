// SPDX-License-Identifier: Apache-2.0
// weft's runtime, if it is in the process; without it the CPUs are all the process's.
#pragma once

#include "core/budget/guest_link.h"

namespace weft::tcm {

// Null: it is not there.
const core::PoolSide* pool() noexcept;

// CPUs that all may use together.
int cpus() noexcept;

// Whether the user lets us work, and wants numbers at the end.
bool welcome() noexcept;
bool statistics() noexcept;

}  // namespace weft::tcm
