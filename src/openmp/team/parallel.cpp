// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/parallel.h"

#include <algorithm>
#include <utility>

#include "base/message.h"
#include "core/api/fork.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/library/nested_blas.h"
#include "openmp/record/record_cache.h"
#include "openmp/record/thread_limit.h"
#include "openmp/settings/startup.h"
#include "openmp/settings/statistics.h"
#include "openmp/team/lone_team.h"
#include "openmp/team/outermost_team.h"
#include "openmp/team/woven_team.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

namespace {

// Section 10.1.1: how many members a region gets.
int team_size(Member* self, int requested, int most) noexcept {
  const Icvs& now = icvs(self);
  if (requested == 1) return 1;
  if (self->team->active_level >= now.max_active_levels) return 1;
  int size = requested > 0 ? requested : now.nthreads;
  if (size <= 1) return 1;
  size = std::min(size, now.structured_limit);
  if (now.dynamic) size = std::min(size, most > 0 ? std::min(most, num_procs()) : num_procs());
  return std::min(size, g_region_threads);
}

// The members that a region of `size` may have beside the caller; `size` becomes what it gets.
ThreadGrant within_limit(Member* parent, int* size) noexcept {
  if (*size == 1 || !has_limit(parent)) return {};
  // It has asked on behalf of a library and opened no region for it.
  drop_answer();
  const ThreadGrant grant = take_threads(parent, *size, icvs(parent).structured_limit);
  *size = 1 + grant.threads;
  return grant;
}

// How a region's team is made.
enum class RegionKind { lone, outermost, woven };

template <bool Told>
void end_team(RegionKind kind, Member* primary) noexcept {
  switch (kind) {
    case RegionKind::lone: return end_lone_team<Told>(primary);
    case RegionKind::outermost: return end_outermost_team<Told>(primary);
    case RegionKind::woven: return end_woven_team<Told>(primary);
  }
}

// One parallel region, from its clauses to its end, by the thread that encounters it. `words` as of parallel().
template <bool Told>
class Region {
 public:
  // `prepare`: null, or as of parallel_of_some().
  Region(Invoke invoke, void** words, Clauses clauses, Prepare prepare) noexcept
      : Region(invoke, words, clauses.bind, prepare) {
    size_ = team_size(parent_, clauses.threads, clauses.most);
    grant_ = within_limit(parent_, &size_);
    kind_ = choose();
  }

  // A gang: all of its members or the end of the process.
  struct Gang {
    int size;
  };
  Region(Invoke invoke, void** words, Gang gang) noexcept : Region(invoke, words, base::ProcBind::false_, nullptr) {
    size_ = gang.size;
    start_runtime();
    if (has_limit(parent_)) grant_ = take_over_grant(parent_, size_);
    // Members that share an OS thread do not run at the same time.
    const bool shares = icvs(parent_).affinity && would_share_threads(parent_, size_);
    kind_ = !shares && begin_outermost() ? RegionKind::outermost : RegionKind::woven;
    if (size_ < gang.size) {
      base::lacking("the system refuses the threads that OpenBLAS needs to go on (see ulimit -u, -v)");
    }
  }

  RegionKind kind() const noexcept { return kind_; }
  int size() const noexcept { return size_; }

  // The caller becomes member 0, whose record `primary` is; the outermost team has its own. `kind` is kind().
  void begin(RegionKind kind, Member* primary) noexcept {
    if (kind == RegionKind::woven) begin_woven_team<Told>(parent_, size_, words_, bind_, primary, prepare_);
    if (kind == RegionKind::lone) begin_lone_team<Told>(parent_, primary);
  }

  void run_primary() noexcept {
    if (ompt::on<Told>()) ompt::begin_member(self());
    invoke_(words_, 0);
  }

  void end(RegionKind kind, Member* primary) noexcept {
    end_team<Told>(kind, kind == RegionKind::outermost ? own_member<Told>() : primary);
  }

  void run(RegionKind kind, Member* primary) noexcept {
    begin(kind, primary);
    run_primary();
    end(kind, primary);
  }

  ThreadGrant& grant() noexcept { return grant_; }

 private:
  Region(Invoke invoke, void** words, base::ProcBind bind, Prepare prepare) noexcept
      : invoke_(invoke), words_(words), bind_(bind), prepare_(prepare), parent_(own_member<Told>()) {
    words[0] = reinterpret_cast<void*>(invoke);
    count_region(parent_->team->level + 1);
  }

  // Its outermost team begins here, since that decides how many members it has.
  bool begin_outermost() noexcept {
    Root* root = outermost(parent_);
    return root != nullptr && begin_outermost_team<Told>(root, parent_, size_, words_, bind_, prepare_);
  }

  // `size_` becomes what the system has threads for; the region gives back what it cannot use of its grant.
  RegionKind choose() noexcept {
    if (size_ == 1) return RegionKind::lone;
    start_runtime();
    const int wanted = size_;
    const bool begun = begin_outermost();
    if (size_ < wanted) reduce(&grant_, size_ - 1);
    if (begun) return RegionKind::outermost;
    if (size_ == 1) return RegionKind::lone;
    // Without a second context nobody could go on when a member waits for another.
    // Nor is there to be a second member, where its turn may not come.
    return core::has_spare() && !core::threads_refused() ? RegionKind::woven : RegionKind::lone;
  }

  const Invoke invoke_;
  void** const words_;
  const base::ProcBind bind_;
  const Prepare prepare_;
  Member* const parent_;
  int size_ = 1;
  ThreadGrant grant_;
  RegionKind kind_ = RegionKind::lone;
};

}  // namespace

void end_identity() noexcept {
  if (ompt::is_present()) ompt::end_worker();
  end_persistent_member();
  make_current(nullptr);
  put_record_cache();
}

int planned_team_size(Member* self, int requested) noexcept { return team_size(self, requested, 0); }

namespace {

template <bool Told>
[[gnu::always_inline]] inline void run_region(Invoke invoke, void** words, Clauses clauses, Prepare prepare) noexcept {
  Region<Told> region(invoke, words, clauses, prepare);
  switch (region.kind()) {
    case RegionKind::outermost: region.run(RegionKind::outermost, nullptr); break;
    case RegionKind::woven: {
      Member* primary = take_frame();
      region.run(RegionKind::woven, primary);
      put_frame(primary);
      break;
    }
    case RegionKind::lone: {
      Member primary;
      region.run(RegionKind::lone, &primary);
      break;
    }
  }
  if (region.grant().threads > 0) give_back(&region.grant());
}

}  // namespace

template <bool Told>
void parallel(Invoke invoke, void** words, Clauses clauses) noexcept {
  run_region<Told>(invoke, words, clauses, nullptr);
}

template void parallel<false>(Invoke invoke, void** words, Clauses clauses) noexcept;
template void parallel<true>(Invoke invoke, void** words, Clauses clauses) noexcept;

template <bool Told>
void parallel_of_some(Invoke invoke, void** words, Clauses clauses, Prepare prepare) noexcept {
  run_region<Told>(invoke, words, clauses, prepare);
}

template void parallel_of_some<false>(Invoke invoke, void** words, Clauses clauses, Prepare prepare) noexcept;
template void parallel_of_some<true>(Invoke invoke, void** words, Clauses clauses, Prepare prepare) noexcept;

void begin_others(void* const* words, int members) noexcept {
  Member* primary = self();
  Team* team = primary->team;
  team->started = members;
  if (team->persistent_team != nullptr) {
    start_persistent_members(outermost(primary->outer), words, members);
  } else {
    core::publish_again(team, members);
  }
}

void parallel_gang(Invoke invoke, void** words, int size) noexcept {
  Region<true> region(invoke, words, Region<true>::Gang{size});
  Member* primary = region.kind() == RegionKind::woven ? take_frame() : nullptr;
  region.begin(region.kind(), primary);
  int lent = 0;
  if (primary == nullptr) {
    // Where they are more than there are slots, nobody else waits for these.
    if (!core::alone() || size > core::slots()) lent = core::lend_threads(size - 1 - core::idle_carriers());
  } else {
    // Carriers of all NUMA nodes are counted, so all may come. Relaxed: summon() calls them after this.
    primary->team->gang.store(true, std::memory_order_relaxed);
    const Missing missing = begin_gang(primary->team, size);
    lent = core::lend_threads(missing.members - missing.idle);
    core::summon(primary->team, missing.members);
  }
  region.run_primary();
  region.end(region.kind(), primary);
  if (primary != nullptr) put_frame(primary);
  core::return_threads(lent);
  if (region.grant().threads > 0) give_back(&region.grant());
  end_gang();
}

void begin_parallel(Invoke invoke, void** words, Clauses clauses) noexcept {
  Region<true> region(invoke, words, clauses, nullptr);
  region.begin(region.kind(), region.kind() == RegionKind::outermost ? nullptr : take_frame());
  Member* primary = self();
  primary->team->threads.grant = region.grant();
  if (ompt::on()) ompt::begin_member(primary);
}

template <bool Told>
void end_parallel() noexcept {
  Member* primary = own_member<Told>();
  const Team* team = primary->team;
  // Of a record that others may have as soon as the region has ended.
  ThreadGrant grant = std::exchange(primary->team->threads.grant, {});
  const RegionKind kind = team->persistent_team != nullptr ? RegionKind::outermost
                          : team->lone                     ? RegionKind::lone
                                                           : RegionKind::woven;
  end_team<Told>(kind, primary);
  if (kind != RegionKind::outermost) put_frame(primary);
  if (grant.threads > 0) give_back(&grant);
}

template void end_parallel<false>() noexcept;
template void end_parallel<true>() noexcept;

template <bool Told>
void begin_serial() noexcept {
  Member* parent = own_member<Told>();
  count_region(parent->team->level + 1);
  begin_lone_team<Told>(parent, take_frame());
  if (ompt::on<Told>()) ompt::begin_member(self());
}
template void begin_serial<false>() noexcept;
template void begin_serial<true>() noexcept;

}  // namespace weft::openmp
