// SPDX-License-Identifier: Apache-2.0
// How many members a region gets (OpenMP 5.2, section 10.1.1). Internal to openmp/region.
#pragma once

#include <algorithm>

#include "openmp/library/nested_blas.h"
#include "openmp/record/thread_limit.h"
#include "openmp/region/region.h"
#include "openmp/settings/icv.h"

namespace weft::openmp {

// `requested` and `most` as of Clauses.
inline int team_size(Member* self, int requested, int most) noexcept {
  const Icvs& now = icvs(self);
  if (requested == 1) return 1;
  if (self->team->active_level >= now.max_active_levels) return 1;
  int size = requested > 0 ? requested : now.nthreads;
  if (size <= 1) return 1;
  size = std::min(size, now.structured_limit);
  if (now.dynamic) size = std::min(size, most > 0 ? std::min(most, num_procs()) : num_procs());
  return std::min(size, g_region_threads);
}

// The members that a region of `size` may have beside the caller; `size` becomes what it gets.
inline ThreadGrant within_limit(Member* parent, int* size) noexcept {
  if (*size == 1 || !has_limit(parent)) return {};
  const ThreadGrant grant = take_threads(parent, *size, icvs(parent).structured_limit);
  *size = 1 + grant.threads;
  return grant;
}

}  // namespace weft::openmp
