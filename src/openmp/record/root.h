// SPDX-License-Identifier: Apache-2.0
// What a thread that is not of the pool keeps between its regions: its initial team and its outermost one.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

struct Root {
  Team team;       // of one member, level 0
  Member initial;  // the implicit task outside of any region

  // The outermost teams of the first few roots keep their contexts (persistent threadprivate data).
  core::PersistentTeam* persistent_team = nullptr;
  Team* outermost_team = nullptr;
  Member primary;            // of the outermost team
  int most_members = 0;      // that there are records for
  uint32_t persistent_version = 0;  // counts changes of the outermost team, so that its members re-read it
  bool persistent_fits = false;     // whether the persistent team is set up for outermost_team's size
  uint32_t generation = 0;   // of the process whose pool the persistent team belongs to
  bool has_persistent_team = false;     // counted among those that have one
  bool no_persistent_team = false;      // there were enough of them
  bool bound = false;        // the thread has been bound to its place

  Root* next_free = nullptr;
};

// The persistent team of a thread that ends, or that gives back what it holds.
void release_persistent_team(Root* root) noexcept;

}  // namespace weft::openmp
