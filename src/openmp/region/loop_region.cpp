// SPDX-License-Identifier: Apache-2.0
#include "openmp/region/loop_region.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/api/fork.h"
#include "openmp/library/nested_blas.h"
#include "openmp/loop/even_share.h"
#include "openmp/loop/loop_cost.h"
#include "openmp/record/workshare.h"
#include "openmp/settings/loop_statistics.h"
#include "openmp/team/reduction.h"
#include "openmp/tool/entry.h"
#include "openmp/tool/events.h"
#include "platform/cycles.h"

namespace weft::openmp {

namespace {

using Kind = base::LoopSchedule::Kind;

// Beginning and joining one more member takes about as long, in an outermost team and in one whose members are offered
// to carriers that have time. A loop of W ns by k members takes W / k + k times this.
constexpr double kMemberNs = 200;
constexpr double kOfferNs = 400;

// Of a region on trial: what the primary does next. It takes the first part; it looks at the clock; it does so once
// more, after as much; it takes the rest.
enum class Trial : uint8_t { first, looks, looks_again, rest };

// A member's side: what it gives to the program first.
struct MemberRange {
  weft_range range;
  LoopRegion* region;
  uint64_t had_last = 0;
  uint64_t iterations = 0;
  uint64_t pieces = 0;
  int64_t measured_since = 0;  // ns; 0: not measured
  uint64_t unmeasured = 0;     // iterations before that
  Trial trial = Trial::first;
};

// A region that its primary runs alone since the loop has been short so far may be long this time. So the primary takes
// a small part of a loop first and looks at the clock; then a larger one if there are many iterations, since early ones
// may be the short ones.
constexpr uint64_t kFirstOfMany = 64;
constexpr uint64_t kSecondOfMany = 8;
constexpr uint64_t kFirstOfFew = 8;

constexpr bool has_many(uint64_t count) noexcept { return count >= kFirstOfMany; }
constexpr uint64_t first_of_trial(uint64_t count) noexcept {
  return count / (has_many(count) ? kFirstOfMany : kFirstOfFew);
}

// Whether 20 microseconds have passed since the thread asked last, in this region or another one. A look at the clock
// takes little time, but the core waits with what follows until all before it is done: once per region is enough.
bool has_been_long() noexcept {
  static constinit thread_local int64_t t_looked = 0;  // platform::ticks()
  const int64_t now = platform::ticks();
  return now - std::exchange(t_looked, now) > platform::ticks_of_20_us();
}

// The other members begin, for the iterations that are left. False: they are not worth it.
bool call_others(MemberRange* mine) noexcept {
  LoopRegion& region = *mine->region;
  Team* team = self()->team;
  auto members = static_cast<int>(std::min<uint64_t>(region.left(), static_cast<uint64_t>(team->size)));
  // What an iteration takes is not known: not what it took before.
  if (region.is_open()) members = members_by_balance(region.left(), team->size, members, 0);
  if (members == 1) return false;
  share_loop(team, region, members);
  if (region.parts.fixed == 1) return false;
  if (region.totals != nullptr) region.totals->whole = false;
  if (mine->measured_since == 0) {
    mine->measured_since = platform::now_ns();
    mine->unmeasured = mine->iterations;
  }
  begin_others(region.words, members);
  return true;
}

// The primary's next iterations while it is alone. False: there are others now, or there are none left.
bool next_on_trial(MemberRange* mine, Chunk* chunk) noexcept {
  LoopRegion* region = mine->region;
  uint64_t piece = region->left();
  if (piece == 0) return false;
  if (mine->trial == Trial::first) {
    piece = first_of_trial(region->count);
    mine->trial = Trial::looks;
  } else if (!has_been_long()) {
    if (mine->trial != Trial::rest && has_many(region->count)) piece = region->count / kSecondOfMany;
    mine->trial = Trial::rest;
  } else if (mine->trial == Trial::looks) {
    // It may have been before the region. From now on the time is this region's.
    piece = first_of_trial(region->count);
    mine->trial = Trial::looks_again;
  } else {
    region->on_trial = false;
    if (call_others(mine)) return false;
  }
  piece = std::clamp<uint64_t>(piece, 1, region->left());
  // In whole chunks, where there is a chunk size.
  if (const uint64_t unit = region->chunk; unit > 1) {
    const uint64_t units = std::max<uint64_t>(piece / unit, 1);
    piece = units <= region->left() / unit ? units * unit : region->left();
  }
  chunk->begin = region->first;
  chunk->end = region->first += piece;
  chunk->last = chunk->end == region->count;
  return true;
}

// The iterations of a member's part, counted from the first that is shared.
EvenShare part_of(const LoopRegion& region, int number) noexcept {
  const auto [parts, head] = region.parts;
  if (parts == 1) return {0, region.left()};
  const EvenShare part =
      even_share(region.left() - head, {static_cast<uint64_t>(parts), static_cast<uint64_t>(number)});
  return {number == 0 ? 0 : head + part.begin, head + part.end};
}

// Each member has one part: first its own. The primary takes those of members that have not begun then, one at a time
// and in ascending order: the others may still begin.
bool next_fixed(MemberRange* mine, Chunk* chunk) noexcept {
  const LoopRegion& region = *mine->region;
  int number = mine->range.number;
  if (mine->had_last != 0) {
    core::PersistentTeam* others = number == 0 && region.parts.fixed > 1 ? self()->team->persistent_team : nullptr;
    if (others == nullptr || (number = others->withdraw_next()) == 0) return false;
  }
  mine->had_last = 1;
  const EvenShare part = part_of(region, number);
  if (part.empty()) return false;
  *chunk = {part.begin, part.end, part.end == region.left()};
  return true;
}

// Of the iterations that have been shared, or left to the primary.
bool next_of_parts(MemberRange* mine, Chunk* chunk) noexcept {
  const LoopRegion* region = mine->region;
  const bool more = region->parts.fixed != 0 ? next_fixed(mine, chunk)
                                             : next_of_share(region->share, mine->range.number, mine->had_last, chunk);
  if (!more) return false;
  chunk->begin += region->first;
  chunk->end += region->first;
  return true;
}

int next_range(weft_range* range) noexcept {
  auto* mine = reinterpret_cast<MemberRange*>(range);
  LoopRegion* region = mine->region;
  Chunk chunk;
  if (!(region->on_trial && next_on_trial(mine, &chunk)) && !next_of_parts(mine, &chunk)) return 0;
  range->begin = chunk.begin;
  range->end = chunk.end;
  range->last = chunk.last ? 1 : 0;
  mine->iterations += chunk.end - chunk.begin;
  ++mine->pieces;
  return 1;
}

// The same with a tool: the first call is the loop's beginning to it, the last one the end.
int next_reported_range(weft_range* range) noexcept {
  const auto* mine = reinterpret_cast<MemberRange*>(range);
  const tool::Entry entry(WEFT_CALLER);
  if (!tool::is_on()) return next_range(range);
  Member* member = self();
  if (mine->pieces == 0) tool::begin_loop(member, mine->region->schedule.kind, mine->region->count);
  const int more = next_range(range);
  if (more != 0) {
    tool::dispatch_static(member, range->begin, range->end - range->begin);
  } else {
    tool::end_work(member, nullptr);
  }
  return more;
}

void add_to(tool::LoopTotals* totals, const MemberRange& mine) noexcept {
  totals->members.fetch_add(1, std::memory_order_relaxed);
  totals->ranges.fetch_add(mine.pieces, std::memory_order_relaxed);
  if (mine.range.number != 0) totals->ranges_of_others.fetch_add(mine.pieces, std::memory_order_relaxed);
}

MemberRange run_range(LoopRegion* region, int number, int64_t measured_since = 0) noexcept {
  const bool reports = region->totals != nullptr && tool::is_on();
  MemberRange mine{{reports ? next_reported_range : next_range, 0, 0, 0, number}, region};
  mine.measured_since = measured_since;
  if (reports && number == 0) {
    region->totals->whole = region->parts.fixed == 1;
    self()->team->tool.loop = region->totals;
  }
  region->body(&mine.range, region->captures);
  count_ranges(mine.pieces, number == 0);
  if (reports) add_to(region->totals, mine);
  return mine;
}

// Words of the region: the body, which names it, its LoopRegion and the captures, to be fetched ahead.
LoopRegion* region_of(void* const* words) noexcept { return static_cast<LoopRegion*>(words[2]); }

void run_loop_member(void* const* words, int number) noexcept {
  LoopRegion* region = region_of(words);
  if (number != 0) {
    run_range(region, number);
    return;
  }
  LoopCost cost(region->loop);
  // Nothing follows from a region whose team has one member only.
  const bool measures = region->share != nullptr && (region->some_left_out || cost.wants_measure());
  const MemberRange mine = run_range(region, number, measures ? platform::now_ns() : 0);
  // Relaxed: tasks that another member pushes later are noted in a later region.
  if (region->share != nullptr && self()->team->tasks.tasked.load(std::memory_order_relaxed)) cost.note_tasks();
  const uint64_t iterations = mine.iterations - mine.unmeasured;
  if (mine.measured_since != 0 && iterations != 0) cost.learn(platform::now_ns() - mine.measured_since, iterations);
}

// How many members of the team take part. Iterations that are no more than the members may wait for each other, as in
// programs that number their threads by a loop; so each is a member's own.
int worthwhile_members(const Team* team, const LoopRegion& region) noexcept {
  const int size = team->size;
  if (region.count <= static_cast<uint64_t>(size)) return static_cast<int>(region.count);
  const double iteration = LoopCost(region.loop).iteration_ns();
  if (iteration == 0) return size;
  const double member_ns = team->persistent_team != nullptr ? kMemberNs : kOfferNs;
  const double worth = iteration * static_cast<double>(region.count) / member_ns;
  if (worth >= static_cast<double>(size) * size) return size;
  return static_cast<int>(std::max(std::sqrt(worth), 1.0));
}

// All members take part, for the tasks: there may be work for more of them than there are iterations.
int prepare_for_tasks(Team* team, LoopRegion& region) noexcept {
  share_loop(team, region, team->size);
  // There was no memory.
  if (region.parts.fixed == 1) return 1;
  team->partial = false;
  // To a tool a barrier would be one more.
  if (team->persistent_team == nullptr) team->gathers = !tool::is_on();
  return team->size;
}

// Before the members begin: makes the loop's record and says how many do.
int prepare(Team* team, void* const* words) noexcept {
  LoopRegion& region = *region_of(words);
  if (LoopCost(region.loop).pushes_tasks()) return prepare_for_tasks(team, region);
  // Of a region whose members have been seen to wait for each other all are to run.
  int members = team->lent > 0 ? team->size : worthwhile_members(team, region);
  if (region.is_open() && team->lent == 0) {
    members = members_by_balance(region.count, team->size, members, LoopCost(region.loop).iteration_ns());
  }
  share_loop(team, region, members);
  region.some_left_out = members > 1 && members < team->size;
  region.words = words;
  // A member takes a grain at once, if the user has said how much that is.
  region.on_trial = region.parts.fixed == 1 && region.count > 1 && !grain_is_said();
  return region.parts.fixed == 1 ? 1 : members;
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
  if (!region.is_open()) {
    // Chunks of a static schedule are handed out in their order too: programs count on early ones to run early.
    base::LoopSchedule schedule = region.schedule;
    if (region.is_static()) schedule.kind = Kind::dynamic;
    share_dynamic_loop(share, schedule, std::max<uint64_t>(region.chunk, 1), region.left(), members);
    share->near = nullptr;
    region.parts = {};
    return;
  }
  const bool lastprivate = (region.loop->flags & WEFT_LOOP_LASTPRIVATE) != 0;
  const double iteration_ns = region.first == 0 ? LoopCost(region.loop).iteration_ns() : 0;
  region.parts = divide_loop(team, share, region.left(), members, iteration_ns, lastprivate, region.schedule.monotonic);
}

void run_loop_part(LoopRegion& region, int number) noexcept { run_range(&region, number); }

bool parallel_loop(weft_loop* loop, weft_loop_body* body, void** captures, uint64_t count, int64_t chunk,
                   Clauses clauses) noexcept {
  // A library has asked on behalf of the region.
  if (is_answered()) return false;
  if (!knows(*loop)) {
    count_later_loop();
    return false;
  }
  if (loop->max_count != 0 && count > loop->max_count) return false;
  // Reductions in order want every member.
  if (g_reduces_in_order) return false;
  const bool reports = tool::is_on();
  if (count == 0) {
    if (!reports) return true;
    clauses.threads = 1;  // to a tool it is a region all the same
  }
  LoopRegion region{.body = body, .captures = captures, .count = count, .loop = loop};
  tool::LoopTotals totals;
  totals.iterations = count;
  if (reports) region.totals = &totals;
  region.schedule = schedule_of(*loop, chunk, &region.chunk);
  // The chunks of OMP_SCHEDULE=static,3 are certain members' own, which functions that the loop calls may count on.
  if (loop->schedule == WEFT_SCHEDULE_RUNTIME && region.schedule.kind == Kind::static_ && region.chunk != 0)
    return false;
  if (__builtin_expect(g_run_elsewhere != nullptr, 0) && g_run_elsewhere(region, clauses)) return true;
  void* words[core::Post::kWords] = {nullptr, reinterpret_cast<void*>(body), &region, captures};
  parallel_of_some(run_loop_member, words, clauses, prepare);
  if (count != 0) count_loop(count, region.parts.fixed == 1);
  return true;
}

}  // namespace weft::openmp
