// SPDX-License-Identifier: Apache-2.0
// From the environment to a running pool.
#pragma once

#include "core/api/budget.h"

namespace weft::openmp {

// The version of OpenMP that the runtime answers for, as in the macro _OPENMP: 5.2, as
// docs/reference/openmp-support.md says. The macro itself, and openmp_version of Fortran, are the compiler's.
inline constexpr int kOpenmpVersion = 202111;

// What the pool is, or will be, started with.
core::Settings pool_settings() noexcept;

// Starts the pool of threads unless it runs: at the first region of more than one member, in the child of a
// fork again. Thread-safe.
void start_runtime() noexcept;

}  // namespace weft::openmp
