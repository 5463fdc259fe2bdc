// SPDX-License-Identifier: Apache-2.0
// Woven regions: nested ones, and those of roots without a persistent team. Their members are offered to every carrier,
// and run by the ones that have time. Internal to openmp/region.
#pragma once

#include "core/api/fork.h"
#include "openmp/region/primary.h"

namespace weft::openmp {

class WovenRegion : public Primary {
 public:
  explicit WovenRegion(Member* primary = nullptr) noexcept : Primary(primary) {}

  // Whether there can be a second member. Without a second context nobody could go on when a member waits for another.
  // Nor is there to be one where its turn may not come.
  static bool is_possible() noexcept { return core::has_spare() && !core::threads_refused(); }

  void begin(const Opening& opening) noexcept;
  // Sees to it that all members run at the same time. Returns how many OS threads have been lent for that.
  int gather(bool lends) noexcept;
  // As begin_others() of region.h.
  void begin_others(void* const* words, int members) noexcept;
  void end() noexcept;
};

}  // namespace weft::openmp
