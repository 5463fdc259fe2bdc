// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coll/group/group.h"
#include "coll/group/model.h"

namespace weft::coll {

// Ranks 0 and 1 measure the speed, in some 20 microseconds, and all ranks get the same result. The group is new, and
// each rank has a CPU.
Speed measure_speed(Group& group) noexcept;

}  // namespace weft::coll
