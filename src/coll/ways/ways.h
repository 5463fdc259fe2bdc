// SPDX-License-Identifier: Apache-2.0
// Which way the data takes. The choice follows from what is the same on all ranks.
#pragma once

#include <cstddef>

#include "coll/group/group.h"

namespace weft::coll {

// Whether ranks read and write each other's memory. `bytes` is what one rank gives another one.
inline bool takes_single_copy(const Group& group, Operation operation, size_t bytes) noexcept {
  return bytes >= group.single_copy_from(operation);
}

inline bool fits_line(size_t bytes) noexcept { return bytes <= Line::kData; }

}  // namespace weft::coll
