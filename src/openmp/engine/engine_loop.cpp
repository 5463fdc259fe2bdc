// SPDX-License-Identifier: Apache-2.0
// Regions that are one loop (region/loop_region.h), run by the engine.
#include <algorithm>

#include "base/message.h"
#include "openmp/engine/engine.h"
#include "openmp/engine/engine_region.h"
#include "openmp/region/loop_region.h"
#include "openmp/settings/icv.h"
#include "openmp/settings/loop_statistics.h"

namespace weft::openmp {

namespace {

using Kind = base::LoopSchedule::Kind;

// What the engine is given, with what is behind it.
struct EngineLoop {
  weft_engine_loop loop;
  LoopRegion* region;
  Team* team;
};

// The range of a member that has one piece.
struct PieceRange {
  weft_range range;
  uint64_t begin;
  uint64_t end;
  bool last;
  bool fetched = false;
};

int next_piece(weft_range* range) noexcept {
  auto* piece = reinterpret_cast<PieceRange*>(range);
  if (piece->fetched) return 0;
  piece->fetched = true;
  range->begin = piece->begin;
  range->end = piece->end;
  range->last = piece->last ? 1 : 0;
  return 1;
}

// The engine divides the iterations: each piece is a member's whole part.
void run_iterations(weft_engine_loop* loop, int32_t slot, uint64_t begin, uint64_t end) noexcept {
  const EngineLoop& mine = *reinterpret_cast<EngineLoop*>(loop);
  if (slot < 0 || slot >= mine.team->size) {
    base::fatal("the engine of WEFT_ENGINE runs a piece in slot %d of a loop that has %d; it breaks weft/engine.h",
                slot, mine.team->size);
  }
  const EngineMember member(mine.team, slot);
  PieceRange piece{{next_piece, 0, 0, 0, slot}, begin, end, end == mine.region->count};
  mine.region->body(&piece.range, mine.region->captures);
  count_ranges(1, slot == 0);
}

// The engine runs members, which fetch iterations as on weft.
void run_members(weft_engine_loop* loop, int32_t, uint64_t begin, uint64_t end) noexcept {
  const EngineLoop& mine = *reinterpret_cast<EngineLoop*>(loop);
  for (uint64_t number = begin; number < end; ++number) {
    const EngineMember member(mine.team, static_cast<int>(number));
    run_loop_part(*mine.region, static_cast<int>(number));
  }
}

// Whether the program leaves it open which iterations a member runs in which order.
bool is_free(const LoopRegion& region) noexcept {
  return !region.schedule.monotonic && (!region.is_static() || region.is_open());
}

bool run_on_engine(LoopRegion& region, const Clauses& clauses) noexcept {
  Member* parent = self();
  if (region.count == 1 || !EngineRegion::is_possible(parent)) return false;
  const int size = planned_team_size(parent, clauses.threads);
  if (size == 1) return false;
  const weft_engine* chosen = engine();
  if (chosen == nullptr) return false;
  EngineRegion on_engine;
  on_engine.begin(parent, size);
  Team* team = on_engine.team();
  EngineLoop loop{{run_members, 0, 1}, &region, team};
  const int slots = chosen->slots();
  if (slots > 0 && slots <= size && is_free(region)) {
    // Where a chunk is a dynamic schedule's, no piece may be larger. Of guided ones it is the smallest.
    const uint64_t chunk = region.schedule.kind == Kind::dynamic ? std::max<uint64_t>(region.chunk, 1) : 0;
    loop.loop = {run_iterations, region.count, chunk};
  } else {
    const auto most = std::min<uint64_t>(region.count, static_cast<uint64_t>(std::min(size, num_procs())));
    share_loop(team, region, static_cast<int>(most));
    loop.loop.count = region.parts.fixed == 1 ? 1 : most;
  }
  on_engine.run(chosen, &loop.loop);
  on_engine.end();
  count_loop(region.count, false);
  count_loop_of_engine();
  return true;
}

}  // namespace

const bool g_engine_wanted = [] {
  const bool wanted = wants_engine();
  if (wanted) g_run_elsewhere = run_on_engine;
  return wanted;
}();

}  // namespace weft::openmp
