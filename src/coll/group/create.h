// SPDX-License-Identifier: Apache-2.0
// How the ranks of a group find together.
#pragma once

#include <cstddef>

#include "coll/coll.h"
#include "coll/group/model.h"
#include "coll/group/places.h"
#include "platform/process.h"

namespace weft::coll {

// Where a rank's queue lies in its area, and how far the areas are apart.
size_t queue_offset() noexcept;
size_t area_bytes(const Settings& settings, int ranks) noexcept;

// The group of `rank` on memory in which all ranks have begun their areas. Tests put threads on one mapping by these.
// destroy() unmaps the memory, release() leaves it.
void begin_area(char* begin, const platform::ProcessId& process, const Place& place) noexcept;
// `crowded`: the job has more ranks than CPUs.
Group* assemble(char* memory, int rank, int size, const Settings& settings, bool crowded = false) noexcept;
void release(Group* group) noexcept;

}  // namespace weft::coll
