// SPDX-License-Identifier: Apache-2.0
// Outermost regions, whose team is persistent: its members keep their contexts from one region to the next. Internal to
// openmp/region.
#pragma once

#include "openmp/region/primary.h"

namespace weft::openmp {

class OutermostRegion : public Primary {
 public:
  explicit OutermostRegion(Member* primary = nullptr) noexcept : Primary(primary) {}

  // Makes a persistent team fit the region. The size becomes what the system has threads for. False: there is no such
  // team, or there is no second thread, or other regions of several members lie around this one.
  static bool reserve(Opening& opening) noexcept {
    // Nested regions need no more than this look.
    return opening.parent->team->active_level == 0 && reserve_team(opening);
  }

  // After reserve().
  void begin(const Opening& opening) noexcept;
  // As of a woven region.
  int gather(bool lends) noexcept;
  void begin_others(void* const* words, int members) noexcept;
  void end() noexcept;

 private:
  static bool reserve_team(Opening& opening) noexcept;
};

// The calling identity ends: what it has kept as a member of a persistent team goes to others.
void end_persistent_member() noexcept;

}  // namespace weft::openmp
