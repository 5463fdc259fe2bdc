// SPDX-License-Identifier: Apache-2.0
// What a thread that is not of the pool keeps between its regions: its initial team and its crew.
#pragma once

#include "openmp/team.h"

namespace weft::openmp {

struct Root {
  Team team;       // of one member, level 0
  Member initial;  // the implicit task outside of any region

  // The outermost teams of the first few roots keep their contexts (persistent threadprivate data).
  core::Crew* crew = nullptr;
  Team* crew_team = nullptr;
  Member primary;            // of the crew's team
  uint32_t crew_version = 0;  // counts changes of the crew's team, so that its members re-read it
  bool crew_fits = false;     // whether the crew is set up for crew_team's size
  uint32_t generation = 0;   // of the process whose pool the crew belongs to
  bool has_crew = false;     // counted among those that have one
  bool no_crew = false;      // there were enough of them
  bool bound = false;        // the thread has been bound to its place

  Root* next_free = nullptr;
};

// The record of the calling thread, which has none yet. It is given back when the thread ends.
Root* take_root() noexcept;

}  // namespace weft::openmp
