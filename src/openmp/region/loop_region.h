// SPDX-License-Identifier: Apache-2.0
// Parallel regions that consist of one worksharing loop whose iterations are counted before the region begins
// (include/weft/loop.h; docs/explanation/weftcc.md). A member that gets no iterations has no effect, so only as many
// members take part as the loop is worth, and a member that no carrier has begun when the iterations have run out is
// left out.
#pragma once

#include <cstdint>

#include "openmp/loop/loop_balance.h"
#include "openmp/region/region.h"
#include "openmp/tool/records.h"
#include "weft/loop.h"

namespace weft::openmp {

struct Workshare;

// One region, for as long as it runs. Written by the primary before others see it. What each member reads comes first,
// on a line of its own.
struct alignas(64) LoopRegion {
  weft_loop_body* body;
  void** captures;
  uint64_t count;
  uint64_t first = 0;  // iterations before this one are the primary's; the others have been shared
  LoopParts parts{1};  // at first: the primary takes all iterations at once
  Workshare* share = nullptr;
  tool::LoopTotals* totals = nullptr;  // where there is a tool

  weft_loop* loop;
  base::LoopSchedule schedule{};
  uint64_t chunk = 0;  // 0: not given
  void* const* words = nullptr;  // of the region's team (parallel.h)
  bool some_left_out = false;  // of the members, by what is known of the loop; not all
  bool on_trial = false;  // the primary begins alone, and calls the others if that takes long

  bool is_static() const noexcept {
    return schedule.kind == base::LoopSchedule::Kind::static_ || schedule.kind == base::LoopSchedule::Kind::auto_;
  }
  uint64_t left() const noexcept { return count - first; }
  // The program leaves open which member runs what.
  bool is_open() const noexcept { return is_static() && chunk == 0; }
};

// Divides the iterations that are left among `members` of the team, or leaves them to its primary.
void share_loop(Team* team, LoopRegion& region, int members) noexcept;

// The calling member's part of a loop that has been shared.
void run_loop_part(LoopRegion& region, int number) noexcept;

// Runs the region outside of the pool; false: it is to run here, and nothing has been done. Null unless the user wants
// that (openmp/engine). Set once, while the library is loaded.
inline bool (*g_run_elsewhere)(LoopRegion& region, const Clauses& clauses) noexcept = nullptr;

// Whether the program's record of the loop is one that this runtime understands.
inline bool knows(const weft_loop& loop) noexcept {
  constexpr uint32_t kKnownFlags = WEFT_LOOP_MONOTONIC | WEFT_LOOP_LASTPRIVATE | WEFT_LOOP_ALONE;
  return loop.version <= WEFT_LOOP_VERSION && (loop.flags & ~kKnownFlags) == 0;
}

// Runs the region. False when it has to be run as any other: members that may have to run at the same time are told
// apart here.
bool parallel_loop(weft_loop* loop, weft_loop_body* body, void** captures, uint64_t count, int64_t chunk,
                   Clauses clauses) noexcept;

}  // namespace weft::openmp
