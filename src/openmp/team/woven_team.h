// SPDX-License-Identifier: Apache-2.0
// Woven teams: nested ones, and those of roots without a persistent team. Their members are offered to every carrier,
// and run by the ones that have time. Internal to openmp/team.
#pragma once

#include "openmp/team/team.h"

namespace weft::openmp {

// `primary` is the record of member 0. `words` and `size` as of parallel().
template <bool Told>
void begin_woven_team(Member* parent, int size, void* const* words, base::ProcBind bind, Member* primary) noexcept;
template <bool Told>
void end_woven_team(Member* primary) noexcept;

}  // namespace weft::openmp
