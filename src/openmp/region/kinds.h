// SPDX-License-Identifier: Apache-2.0
// The one place where the kinds of regions are told apart. Internal to openmp/region.
#pragma once

#include "openmp/region/lone.h"
#include "openmp/region/outermost.h"
#include "openmp/region/woven.h"

namespace weft::openmp {

// act(region), of that kind's class. `primary`: null, or of a region that has begun.
template <class Act>
[[gnu::always_inline]] inline void with_region(RegionKind kind, Member* primary, const Act& act) noexcept {
  switch (kind) {
    case RegionKind::outermost: return act(OutermostRegion(primary));
    case RegionKind::woven: return act(WovenRegion(primary));
    case RegionKind::lone: return act(LoneRegion(primary));
    // Neither is a construct that ends here: a program ends a region that it has not begun.
    case RegionKind::none:
    case RegionKind::engine: return;
  }
}

}  // namespace weft::openmp
