// SPDX-License-Identifier: Apache-2.0
// The routines about nested parallel regions: levels, how many of them may be active, ancestors (OpenMP 5.2, section
// 18.2).
#include "base/message.h"
#include "openmp/api/fortran.h"
#include "openmp/record/team.h"

using namespace weft;
using namespace weft::openmp;

namespace {

// The member that the caller descends from at nesting level `level`, or null.
const Member* ancestor(int level) noexcept {
  const Member* member = self();
  if (level < 0 || level > member->team->level) return nullptr;
  while (member->team->level > level) member = member->team->parent;
  return member;
}

int ancestor_number(int level) noexcept {
  const Member* member = ancestor(level);
  return member != nullptr ? member->number : -1;
}

int team_size(int level) noexcept {
  const Member* member = ancestor(level);
  return member != nullptr ? member->team->size : -1;
}

// A thread outside of its team, or the primary of a region that such a thread has opened (OpenMP 6.0, section 1.2).
bool is_free_agent(const Member* member) noexcept {
  while (member != nullptr && member->team->agent_of == nullptr) {
    if (member->number != 0 || member->team->level == 0) return false;
    member = member->team->parent;
  }
  return member != nullptr;
}

int ancestor_is_free_agent(int level) noexcept {
  const Member* member = current_member();
  return member != nullptr && is_free_agent(ancestor(level)) ? 1 : 0;
}

int supported_levels() noexcept { return INT_MAX; }

void set_max_active_levels(int levels) noexcept {
  if (levels < 0) {
    base::warn("omp_set_max_active_levels(%d): the number must not be negative; the call has no effect", levels);
    return;
  }
  own_icvs(self()).max_active_levels = levels;
}

// Deprecated since 5.0: stands for a max-active-levels of 1 or of all that are supported.
void set_nested(int on) noexcept { own_icvs(self()).max_active_levels = on != 0 ? supported_levels() : 1; }

}  // namespace

WEFT_ROUTINE_GET(int, omp_get_level, current_level());
WEFT_ROUTINE_GET(int, omp_get_active_level, current_active_level());
WEFT_ROUTINE_GET_BY_INT(int, omp_get_ancestor_thread_num, ancestor_number);
WEFT_ROUTINE_GET_BY_INT(int, omp_get_team_size, team_size);
WEFT_ROUTINE_GET(int, omp_is_free_agent, is_free_agent(current_member()) ? 1 : 0);
WEFT_ROUTINE_GET_BY_INT(int, omp_ancestor_is_free_agent, ancestor_is_free_agent);
WEFT_ROUTINE_GET(int, omp_get_supported_active_levels, supported_levels());
WEFT_ROUTINE_GET(int, omp_get_max_active_levels, icvs(self()).max_active_levels);
WEFT_ROUTINE_SET_INT(omp_set_max_active_levels, set_max_active_levels);
WEFT_ROUTINE_GET(int, omp_get_nested, icvs(self()).max_active_levels > 1 ? 1 : 0);
WEFT_ROUTINE_SET_INT(omp_set_nested, set_nested);
