// SPDX-License-Identifier: Apache-2.0
// Places: sets of CPUs that threads are bound to (OpenMP 5.2, section 10.1.3 and 21.1.6).
#pragma once

#include "base/small_list.h"
#include "platform/cpu_set.h"
#include "platform/topology.h"

namespace weft::openmp {

using PlaceList = base::SmallList<platform::CpuSet, 1>;
inline constexpr int kMostPlaces = platform::CpuSet::kMost;

// Adds the first `most` groups of CPUs that share what `level` says, in the order of the machine.
void add_groups(const platform::Topology& topology, platform::Level level, int most, PlaceList* places) noexcept;

// Takes out of the places what is not in `cpus`, and places that are empty then. What was taken out.
platform::CpuSet restrict_places(const platform::CpuSet& cpus, PlaceList* places) noexcept;

// As OMP_PLACES would have it, "{0:4},{8}"; for one place and for the list. Returns the length of the whole text; at
// most `room` - 1 characters and a null are written.
size_t format_place(const platform::CpuSet& place, char* text, size_t room) noexcept;
size_t format_places(const PlaceList& places, char* text, size_t room) noexcept;

}  // namespace weft::openmp
