// SPDX-License-Identifier: Apache-2.0
// thread-limit-var: what an initial thread and all regions inside it have together. Its team counts the members that
// regions add; nobody comes here where there is no limit.
#pragma once

#include <climits>

#include "openmp/record/team.h"

namespace weft::openmp {

inline bool has_limit(Member* self) noexcept { return icvs(self).structured_limit != INT_MAX; }

// For a region of `size` members inside `self`: as many as there may be, which may be none.
ThreadGrant take_threads(const Member* self, int size, int limit) noexcept;

// For all of them or none: false.
bool take_all_threads(const Member* self, int size, int limit, ThreadGrant* grant) noexcept;

// For all of them, limit or not: they must run.
ThreadGrant add_threads(const Member* self, int size) noexcept;

void give_back(ThreadGrant* grant) noexcept;

// Gives back what exceeds `threads` of a grant, if it is one.
void reduce(ThreadGrant* grant, int threads) noexcept;

// How many members a region inside `self` could have now.
int threads_left(const Member* self, int limit) noexcept;

}  // namespace weft::openmp
