// SPDX-License-Identifier: Apache-2.0
// Loops of the program in which members wait for each other by looking at memory: they ask the runtime in each round
// (openmp/api/spin_wait.h), so that those that they wait for run.
#pragma once

#include <link.h>

namespace weft::audit {

// For each object of the program as it is mapped, before its code runs.
void look_for_spin_waits(const link_map* object, const char* runtime) noexcept;

// For each object that is unmapped.
void forget_spin_waits(const link_map* object, const char* runtime) noexcept;

}  // namespace weft::audit
