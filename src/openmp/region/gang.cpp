// SPDX-License-Identifier: Apache-2.0
#include "openmp/region/gang.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

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

// Regions, by their functions, whose members have been seen to yield where they wait for each other: they need no
// threads of their own, and go on with few CPUs as others do. A function whose library has been unloaded may be
// another's by now: if that one's members do not yield, the monitor finds it out (core/monitor/stalls.h).
class YieldingRegions {
 public:
  bool has(const void* function) const noexcept {
    return function != nullptr &&
           std::ranges::any_of(functions_, [function](const auto& known) { return known.load(kRelaxed) == function; });
  }
  // Where there is no room, nothing is noted.
  void add(const void* function) noexcept {
    for (auto& known : functions_) {
      const void* seen = nullptr;
      if (known.compare_exchange_strong(seen, function, kRelaxed) || seen == function) return;
    }
  }

 private:
  // No other data belongs to the words.
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr size_t kEntries = 16;  // a library has some three
  std::array<std::atomic<const void*>, kEntries> functions_{};
};
constinit YieldingRegions g_yielding_regions;

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
  Team* team = region.primary()->team;
  const void* function = opening.words[1];
  const bool yields = g_yielding_regions.has(function);
  const int lent = region.gather(!yields);
  if (!yields) team->yields.store(false, std::memory_order_relaxed);
  const RegionAnswer answer = hand_over_answer();
  region.run(opening);
  const bool seen = !yields && team->yields.load(std::memory_order_relaxed);
  region.end();
  if (seen) g_yielding_regions.add(function);
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
