// SPDX-License-Identifier: Apache-2.0
// Which place a member of a team gets, by the rules of OpenMP 5.2, section 10.1.3. A team keeps where its parent was;
// what a member has follows from that and from its number, so nothing is stored for each.
#pragma once

#include <array>
#include <cstdint>

#include "base/options.h"

namespace weft::openmp {

// Consecutive places of the list.
struct Partition {
  int first = 0;
  int count = 0;
  bool operator==(const Partition&) const noexcept = default;
};

// What a thread has: a place, and the partition its own regions go by.
struct ThreadPlace {
  int place = -1;
  Partition partition;
  bool operator==(const ThreadPlace&) const noexcept = default;
};

struct Placement {
  enum class Kind : uint8_t { primary, close, cyclic, spread };
  Kind kind = Kind::primary;
  ThreadPlace parent;
  int members = 1;
  bool operator==(const Placement&) const noexcept = default;
};

// Where the members of a team are, and whether they are to say so. Set only where icvs.affinity is (team_affinity.h).
struct TeamPlaces {
  bool shown = false;
  Placement placement;
};

ThreadPlace thread_place_of(const Placement& placement, int member) noexcept;

// How many members with smaller numbers have the same place.
int rank_in_place(const Placement& placement, int member) noexcept;

// What OMP_DISPLAY_AFFINITY has shown of a thread's regions, by nesting depth: it shows what has changed.
struct PlacesShown {
  static constexpr int kDepths = 4;  // deeper ones share the last entry
  static constexpr Placement kNothing{Placement::Kind::primary, {}, 0};
  std::array<Placement, kDepths> last{kNothing, kNothing, kNothing, kNothing};
};

}  // namespace weft::openmp
