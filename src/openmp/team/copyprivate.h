// SPDX-License-Identifier: Apache-2.0
// copyprivate (OpenMP 5.2, section 5.7.2).
#pragma once

#include "openmp/team/barrier.h"

namespace weft::openmp {

struct Member;

// copyprivate: what the member that executes the single region offers the others; null from those. A barrier follows
// when they have copied. `kind`, `caller`: of the barrier before (barrier.h).
void* exchange_copies(Member* self, void* offered, Barrier kind, const void* caller) noexcept;

}  // namespace weft::openmp
