// SPDX-License-Identifier: Apache-2.0
// How the ranks of a group find each other.
#pragma once

#include <cstddef>

#include "coll/coll.h"
#include "coll/group/location.h"
#include "coll/group/model.h"
#include "platform/process.h"

namespace weft::coll {

// The offset of a rank's queue in its area, and the distance from one area to the next.
size_t queue_offset() noexcept;
size_t area_bytes(const Settings& settings, int ranks) noexcept;

// assemble() makes the group of `rank`, on memory in which all ranks have begun their areas. Tests use these functions
// to put threads on one mapping. destroy() unmaps the memory, release() leaves it mapped.
void begin_area(char* begin, const platform::ProcessId& process, const Location& location) noexcept;
// `crowded`: the job has more ranks than CPUs.
Group* assemble(char* memory, int rank, int size, const Settings& settings, bool crowded = false) noexcept;
void release(Group* group) noexcept;

}  // namespace weft::coll
