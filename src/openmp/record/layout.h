// SPDX-License-Identifier: Apache-2.0
// The records of OpenMP that an inspector reads (core/monitor/inspection.h).
#pragma once

#include "base/layout_hash.h"
#include "openmp/record/team.h"

namespace weft::openmp {

inline constexpr uint64_t kOpenmpLayout = base::layout_hash(
    {sizeof(Team), sizeof(Member), sizeof(Task), sizeof(TaskGroup), sizeof(MemberLine), sizeof(Workshare)});

}  // namespace weft::openmp
