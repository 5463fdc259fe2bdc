// SPDX-License-Identifier: Apache-2.0
#include "openmp/loop/loop_balance.h"

#include <algorithm>

#include "base/options.h"
#include "openmp/affinity/affinity.h"
#include "openmp/record/chunk_range.h"
#include "openmp/record/team.h"
#include "openmp/record/workshare.h"

namespace weft::openmp {

namespace {

using base::Balance;
using base::Grain;

// A member takes iterations for so long at once, as far as is known: so long that taking them costs little, and so
// short that some that take longer than the others do not keep one member when the rest have ended.
constexpr double kPieceNs = 1000;
constexpr double kMostPieceNs = 8000;
constexpr double kMostAtOnce = 1e9;
// A loop of which each member has no more than this is over before parts that change hands would pay. The members of a
// persistent team begin so long after the primary.
constexpr double kShortPartNs = 6000;
constexpr double kHeadNs = 100;
// While nothing is known: so many pieces per member.
constexpr uint64_t kFirstPieces = 32;

uint64_t iterations_of(double ns, double iteration_ns) noexcept {
  return static_cast<uint64_t>(std::clamp(ns / iteration_ns, 1.0, kMostAtOnce));
}

// Iterations to be taken at once, at least; 0: that is not known yet.
uint64_t grain_of(const Grain& said, double iteration_ns) noexcept {
  if (said.iterations > 0) return static_cast<uint64_t>(said.iterations);
  if (iteration_ns == 0) return 0;
  const double ns = said.ns > 0 ? static_cast<double>(said.ns) : kPieceNs;
  return iterations_of(ns, iteration_ns);
}

// Iterations that are no more than the members are one each, since they may wait for each other.
uint64_t piece_of(uint64_t grain, uint64_t count, int members) noexcept {
  if (count <= static_cast<uint64_t>(members)) return 1;
  if (grain != 0) return std::min(grain, count);
  return std::max<uint64_t>(count / (kFirstPieces * static_cast<uint64_t>(members)), 1);
}

// In chunks.
ChunkRange::Bounds lazy_pieces(uint64_t chunk, uint64_t grain, uint64_t piece, double iteration_ns) noexcept {
  const uint64_t most = iteration_ns == 0 ? piece : iterations_of(kMostPieceNs, iteration_ns);
  const uint64_t least = std::max<uint64_t>(grain / chunk, 1);
  return {least, std::max(most / chunk, least)};
}

// Each member has its part of a short loop. The primary takes the parts of those that have not begun (loop_region.cpp).
bool is_short(const Team* team, uint64_t count, int members, double iteration_ns) noexcept {
  return team->persistent_team != nullptr && iteration_ns != 0 && count > static_cast<uint64_t>(members) &&
         iteration_ns * static_cast<double>(count) <= kShortPartNs * members;
}

LoopParts short_parts(uint64_t count, int members, double iteration_ns) noexcept {
  const auto head = static_cast<uint64_t>(kHeadNs / iteration_ns);
  return {members, std::min(head, count - static_cast<uint64_t>(members))};
}

}  // namespace

bool grain_is_said() noexcept {
  const Grain& said = base::options().grain;
  return said.iterations != 0 || said.ns != 0;
}

int members_by_balance(uint64_t count, int size, int worthwhile, double iteration_ns) noexcept {
  // A member each: such iterations may wait for each other.
  if (count <= static_cast<uint64_t>(size)) return worthwhile;
  const base::Options& options = base::options();
  // Parts stay the same from region to region only if all members have one.
  const bool all = options.balance == Balance::static_ || options.balance == Balance::affinity;
  const int members = all ? size : worthwhile;
  const Grain& said = options.grain;
  if (!grain_is_said()) return members;
  const uint64_t pieces = count / std::max<uint64_t>(grain_of(said, iteration_ns), 1);
  return static_cast<int>(std::clamp<uint64_t>(pieces, 1, static_cast<uint64_t>(members)));
}

LoopParts divide_loop(Team* team, Workshare* share, uint64_t count, int members, double iteration_ns, bool lastprivate,
                      bool monotonic) noexcept {
  const base::Options& options = base::options();
  if (options.balance == Balance::auto_ && !grain_is_said() && is_short(team, count, members, iteration_ns))
    return short_parts(count, members, iteration_ns);
  const uint64_t grain = grain_of(options.grain, iteration_ns);
  // Woven teams run where there is time.
  const bool local = team->icvs.affinity && affinity().local && team->persistent_team != nullptr;
  share->near = local ? &team->places.placement : nullptr;
  if (options.balance == Balance::static_) {
    // Nobody else runs the part of a member, so none is taken back.
    team->partial = false;
    return {members};
  }
  const uint64_t piece = piece_of(grain, count, members);
  // Shares that others take from would be gone through out of order. Pieces that shrink keep many members from meeting
  // at the one counter.
  if (options.balance == Balance::central || monotonic) {
    base::LoopSchedule in_order{};
    in_order.monotonic = true;
    if (options.balance != Balance::central) in_order.kind = base::LoopSchedule::Kind::guided;
    share_dynamic_loop(share, in_order, piece, count, members);
    return {};
  }
  // Ranges count in chunks: so large that the numbers of all fit.
  const uint64_t grouped = count / (ChunkRange::kLimit - 1) + 1;
  const bool steal = options.balance == Balance::steal;
  const uint64_t chunk = steal ? std::max(piece, grouped) : grouped;
  const ChunkRange::Bounds at_once = steal ? ChunkRange::Bounds{} : lazy_pieces(chunk, grain, piece, iteration_ns);
  // Without memory for the ranges the primary runs all.
  return {share_static_loop(share, chunk, count, members, at_once, lastprivate) ? 0 : 1};
}

}  // namespace weft::openmp
