// SPDX-License-Identifier: Apache-2.0
#include "openmp/loop/loop_region.h"

#include <algorithm>
#include <cmath>

#include "openmp/engine/engine.h"
#include "openmp/engine/engine_region.h"
#include "openmp/loop/loop_cost.h"
#include "openmp/loop/loop_statistics.h"
#include "openmp/loop/workshare.h"
#include "openmp/ompt/tool.h"
#include "openmp/settings/icv.h"
#include "openmp/team/reduction.h"
#include "platform/cycles.h"

namespace weft::openmp {

namespace {

using Kind = base::LoopSchedule::Kind;

// Beginning and joining one more member takes about as long. A loop of W ns by k members takes W / k + k times this.
constexpr double kMemberNs = 100;
// A member takes iterations for so long at once, as far as is known.
constexpr double kPieceNs = 1000;

constexpr uint32_t kKnownFlags = WEFT_LOOP_MONOTONIC | WEFT_LOOP_LASTPRIVATE | WEFT_LOOP_ALONE;

// A member's side: what it gives to the program first.
struct MemberRange {
  weft_range range;
  LoopRegion* region;
  uint64_t had_last = 0;
  uint64_t iterations = 0;
  uint64_t pieces = 0;
};

int next_range(weft_range* range) noexcept {
  auto* mine = reinterpret_cast<MemberRange*>(range);
  LoopRegion* region = mine->region;
  Chunk chunk;
  if (region->alone) {
    if (mine->had_last != 0) return 0;
    mine->had_last = 1;
    chunk = {0, region->count, true};
  } else if (!next_of_share(region->share, range->number, mine->had_last, &chunk)) {
    return 0;
  }
  range->begin = chunk.begin;
  range->end = chunk.end;
  range->last = chunk.last ? 1 : 0;
  mine->iterations += chunk.end - chunk.begin;
  ++mine->pieces;
  return 1;
}

MemberRange run_part(LoopRegion* region, int number) noexcept {
  MemberRange mine{{next_range, 0, 0, 0, number}, region};
  region->body(&mine.range, region->captures);
  count_ranges(mine.pieces, number == 0);
  return mine;
}

// Words of the region: the body, which names it, and its LoopRegion.
LoopRegion* region_of(void* const* words) noexcept { return static_cast<LoopRegion*>(words[2]); }

void run_loop_member(void* const* words, int number) noexcept {
  LoopRegion* region = region_of(words);
  if (number != 0 || !LoopCost(region->loop).wants_measure()) {
    run_part(region, number);
    return;
  }
  const int64_t before = platform::now_ns();
  const MemberRange mine = run_part(region, number);
  if (mine.iterations != 0) LoopCost(region->loop).learn(platform::now_ns() - before, mine.iterations);
}

// How many members take part, of `size`. Iterations that are no more than the members may wait for each other, as in
// programs that number their threads by a loop; so each is a member's own.
int worthwhile_members(const LoopRegion& region, int size) noexcept {
  if (region.count <= static_cast<uint64_t>(size)) return static_cast<int>(region.count);
  const double iteration = LoopCost(region.loop).iteration_ns();
  if (iteration == 0) return size;
  const double best = std::sqrt(iteration * static_cast<double>(region.count) / kMemberNs);
  return static_cast<int>(std::clamp(best, 1.0, static_cast<double>(size)));
}

// Before the members begin: makes the loop's record and says how many do.
int prepare(Team* team, void* const* words) noexcept {
  LoopRegion& region = *region_of(words);
  // Of a region whose members have been seen to wait for each other all are to run.
  const int members = team->lent > 0 ? team->size : worthwhile_members(region, team->size);
  share_loop(team, region, members);
  return region.alone ? 1 : members;
}

base::LoopSchedule schedule_of(const weft_loop& loop, int64_t chunk, uint64_t* unit) noexcept {
  base::LoopSchedule schedule{};
  *unit = chunk > 0 ? static_cast<uint64_t>(chunk) : 0;
  switch (loop.schedule) {
    case WEFT_SCHEDULE_DYNAMIC: schedule.kind = Kind::dynamic; break;
    case WEFT_SCHEDULE_GUIDED: schedule.kind = Kind::guided; break;
    case WEFT_SCHEDULE_AUTO: schedule.kind = Kind::auto_; break;
    case WEFT_SCHEDULE_RUNTIME:
      schedule = icvs(self()).run_schedule;
      *unit = schedule.chunk > 0 ? static_cast<uint64_t>(schedule.chunk) : 0;
      break;
    default: schedule.kind = Kind::static_; break;
  }
  schedule.monotonic = schedule.monotonic || (loop.flags & WEFT_LOOP_MONOTONIC) != 0;
  return schedule;
}

}  // namespace

void share_loop(Team* team, LoopRegion& region, int members) noexcept {
  Workshare* share = &team->loops.region;
  region.share = share;
  if (members == 1) return;
  const bool is_static = region.is_static();
  const uint64_t chunk = std::max<uint64_t>(region.chunk, 1);
  if (!is_static || region.chunk != 0) {
    // Chunks of a static schedule are handed out in their order too: programs count on early ones to run early.
    base::LoopSchedule schedule = region.schedule;
    if (is_static) schedule.kind = Kind::dynamic;
    share_dynamic_loop(share, schedule, chunk, region.count, members);
    region.alone = false;
    return;
  }
  const double iteration = LoopCost(region.loop).iteration_ns();
  const uint64_t grouped = region.count / (ChunkRange::kLimit - 1) + 1;
  const double least = iteration == 0 ? 1 : kPieceNs / (iteration * static_cast<double>(grouped));
  const bool lastprivate = (region.loop->flags & WEFT_LOOP_LASTPRIVATE) != 0;
  const auto at_once = static_cast<uint64_t>(std::clamp(least, 1.0, 1e9));
  region.alone = !share_static_loop(share, grouped, region.count, members, at_once, lastprivate);
}

void run_loop_part(LoopRegion& region, int number) noexcept { run_part(&region, number); }

bool parallel_loop(weft_loop* loop, weft_loop_body* body, void** captures, uint64_t count, int64_t chunk,
                   Clauses clauses) noexcept {
  if (loop->version > WEFT_LOOP_VERSION || (loop->flags & ~kKnownFlags) != 0) return false;
  if (loop->max_count != 0 && count > loop->max_count) return false;
  // A tool is told of constructs as the standard interface has them. Reductions in order want every member.
  if (ompt::on() || g_reduces_in_order) return false;
  if (count == 0) return true;
  self();  // the thread may be new here
  LoopRegion region{loop, body, captures, count, {}, 0};
  region.schedule = schedule_of(*loop, chunk, &region.chunk);
  if (__builtin_expect(g_engine_wanted, 0) && run_on_engine(region, clauses)) return true;
  void* words[core::Post::kWords] = {nullptr, reinterpret_cast<void*>(body), &region};
  parallel_of_some(run_loop_member, words, clauses, prepare);
  count_loop(count, region.alone);
  return true;
}

}  // namespace weft::openmp
