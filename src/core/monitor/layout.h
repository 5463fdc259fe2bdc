// SPDX-License-Identifier: Apache-2.0
// The records of core that an inspector reads (inspection.h).
#pragma once

#include "base/layout_hash.h"
#include "core/context/donor.h"
#include "core/sched/parking_lists.h"
#include "core/sched/pool.h"

namespace weft::core {

inline constexpr uint64_t kCoreLayout =
    base::layout_hash({sizeof(Pool), sizeof(Carrier), sizeof(Context), sizeof(Donor), sizeof(ParallelCall),
                       sizeof(parking::List), sizeof(parking::Waiter), kMaxCarriers});

}  // namespace weft::core
