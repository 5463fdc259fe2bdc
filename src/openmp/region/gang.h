// SPDX-License-Identifier: Apache-2.0
// Regions whose members must all run at the same time: those of libraries (library/nested_blas.h). Internal to
// openmp/region.
#pragma once

#include "openmp/region/opening.h"

namespace weft::openmp {

// The region, from its beginning to its end: all of opening.size members, or the end of the process.
void run_gang(Opening& opening) noexcept;

}  // namespace weft::openmp
