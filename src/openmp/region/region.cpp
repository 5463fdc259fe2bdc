// SPDX-License-Identifier: Apache-2.0
#include "openmp/region/region.h"

#include <utility>

#include "core/api/fork.h"
#include "openmp/record/record_cache.h"
#include "openmp/record/thread_limit.h"
#include "openmp/region/gang.h"
#include "openmp/region/kinds.h"
#include "openmp/region/size.h"
#include "openmp/settings/startup.h"

namespace weft::openmp {

namespace {

// The kind of a region of opening.size members. That becomes what the system has threads for, and the region gives back
// what it cannot use of its grant. Nothing begins here.
RegionKind choose(Opening& opening) noexcept {
  if (opening.size == 1) return RegionKind::lone;
  start_runtime();
  const int wanted = opening.size;
  const bool persists = OutermostRegion::reserve(opening);
  if (opening.size < wanted) reduce(&opening.grant, opening.size - 1);
  if (persists) return RegionKind::outermost;
  if (opening.size == 1) return RegionKind::lone;
  return WovenRegion::is_possible() ? RegionKind::woven : RegionKind::lone;
}

void settle_size(Opening& opening, const Clauses& clauses) noexcept {
  // It may have asked on behalf of a library and opened no region for it: others would wait for the library's.
  drop_answer();
  opening.size = team_size(opening.parent, clauses.threads, clauses.most);
  opening.grant = within_limit(opening.parent, &opening.size);
}

// A region from its clauses to its end.
[[gnu::always_inline]] inline void run_region(Opening& opening, const Clauses& clauses) noexcept {
  settle_size(opening, clauses);
  with_region(choose(opening), nullptr, [&opening](auto region) {
    region.begin(opening);
    region.run(opening);
    region.end();
  });
  if (opening.grant.threads > 0) give_back(&opening.grant);
}

}  // namespace

int planned_team_size(Member* self, int requested) noexcept { return team_size(self, requested, 0); }

void parallel(Invoke invoke, void** words, Clauses clauses, const void* caller) noexcept {
  const int promised = promised_threads(caller);
  if (__builtin_expect(promised > 1, 0)) {
    Opening opening(invoke, words, base::ProcBind::false_, nullptr);
    opening.size = promised;
    return run_gang(opening);
  }
  Opening opening(invoke, words, clauses.bind, nullptr);
  run_region(opening, clauses);
}

void parallel_of_some(Invoke invoke, void** words, Clauses clauses, Prepare prepare) noexcept {
  Opening opening(invoke, words, clauses.bind, prepare);
  run_region(opening, clauses);
}

void begin_others(void* const* words, int members) noexcept {
  Member* primary = self();
  with_region(primary->team->kind, primary, [=](auto region) { region.begin_others(words, members); });
}

void begin_parallel(Invoke invoke, void** words, Clauses clauses) noexcept {
  Opening opening(invoke, words, clauses.bind, nullptr);
  settle_size(opening, clauses);
  with_region(choose(opening), nullptr, [&opening](auto region) {
    region.begin(opening);
    region.primary()->team->threads.grant = opening.grant;
    tool::begin_member(region.primary());
  });
}

void begin_serial() noexcept {
  Member* parent = self();
  count_region(parent->team->level + 1);
  LoneRegion region;
  region.begin(parent);
  tool::begin_member(region.primary());
}

void end_parallel() noexcept {
  Member* primary = self();
  Team* team = primary->team;
  // Of a record that others may have as soon as the region has ended.
  ThreadGrant grant = std::exchange(team->threads.grant, {});
  with_region(team->kind, primary, [](auto region) { region.end(); });
  if (grant.threads > 0) give_back(&grant);
}

void end_identity() noexcept {
  if (tool::is_active()) tool::end_worker();
  end_persistent_member();
  make_current(nullptr);
  put_record_cache();
}

}  // namespace weft::openmp
