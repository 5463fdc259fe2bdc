// SPDX-License-Identifier: Apache-2.0
// Threads that are not of the pool, as they begin to use OpenMP.
#pragma once

#include "openmp/record/root.h"

namespace weft::openmp {

// The record of the calling thread, which has none yet. It is given back when the thread ends.
Root* take_root() noexcept;

}  // namespace weft::openmp
