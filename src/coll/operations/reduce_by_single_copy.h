// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "coll/group/group.h"

namespace weft::coll {

inline constexpr int kAll = -1;  // as the root: all ranks get the result

// Each rank combines its share of the vector, which it reads from all ranks' memory, and writes it to the ranks that
// get the result.
void reduce_by_single_copy(Group& group, const void* in, void* out, size_t count, const Reduction& reduction,
                           int root) noexcept;

}  // namespace weft::coll
