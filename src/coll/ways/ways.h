// SPDX-License-Identifier: Apache-2.0
// Which way data takes. It follows from what is the same on all ranks.
#pragma once

#include <cstddef>

#include "coll/group/group.h"

namespace weft::coll {

// From how many bytes on a rank reads another one's memory, where it may. `bytes` is what one rank gives another one.
inline bool takes_single_copy(const Group& group, size_t bytes) noexcept {
  constexpr size_t kLeast = size_t{64} << 10;
  return group.facts().single_copy && bytes >= kLeast;
}

inline bool fits_line(size_t bytes) noexcept { return bytes <= Line::kData; }

}  // namespace weft::coll
