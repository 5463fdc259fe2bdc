// SPDX-License-Identifier: Apache-2.0
#include "openmp/region/gang.h"

#include "base/message.h"
#include "core/api/fork.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/library/call_right.h"
#include "openmp/library/nested_blas.h"
#include "openmp/record/thread_limit.h"
#include "openmp/region/kinds.h"
#include "openmp/settings/startup.h"

namespace weft::openmp {

namespace {

RegionKind choose_for_gang(Opening& opening) noexcept {
  const int wanted = opening.size;
  start_runtime();
  if (has_limit(opening.parent)) opening.grant = take_over_grant(opening.parent, wanted);
  // Members that share an OS thread do not run at the same time.
  const bool shares = icvs(opening.parent).affinity && would_share_threads(opening.parent, wanted);
  const RegionKind kind = !shares && OutermostRegion::reserve(opening) ? RegionKind::outermost : RegionKind::woven;
  if (opening.size < wanted) {
    base::lacking("the system refuses the threads that OpenBLAS needs to go on (see ulimit -u, -v)");
  }
  return kind;
}

template <class Region>
void run_together(Region region, Opening& opening) noexcept {
  begin_library_region();
  region.begin(opening);
  const int lent = region.gather();
  const RegionAnswer answer = hand_over_answer();
  region.run(opening);
  region.end();
  take_back_answer(answer);
  core::return_threads(lent);
  if (opening.grant.threads > 0) give_back(&opening.grant);
  end_library_region();
  end_gang();
}

}  // namespace

void run_gang(Opening& opening) noexcept {
  with_region(choose_for_gang(opening), nullptr, [&opening](auto region) { run_together(region, opening); });
}

}  // namespace weft::openmp
