// SPDX-License-Identifier: Apache-2.0
#include "openmp/record/workshare.h"

#include <new>

#include "openmp/record/chunk_groups.h"

namespace weft::openmp {

namespace {

using Kind = base::LoopSchedule::Kind;

// Up to so many chunks per member, and in all, come from one shared counter, which hands them out in order; more are
// split among the members first, so that each works on a cache line of its own. A large team would stand in line for
// it.
constexpr uint64_t kSharedChunksPerMember = 64;
constexpr uint64_t kSharedChunks = 512;

bool reserve_ranges(Workshare* share, int size) noexcept {
  const int before = share->capacity.load(std::memory_order_relaxed);
  if (before >= size) return true;
  const int capacity = std::max(size, 2 * before);
  auto* ranges = new (std::nothrow) ChunkRange[static_cast<size_t>(capacity)];
  if (ranges == nullptr) return false;
  if (before > 0) {
    share->outgrown =
        new (std::nothrow) Workshare::Outgrown{share->ranges.load(std::memory_order_relaxed), share->outgrown};
  }
  share->ranges.store(ranges, std::memory_order_relaxed);
  // Release: a thread that sees it looks at a table that has that many.
  share->capacity.store(capacity, std::memory_order_release);
  return true;
}

// All chunks but the last one, which goes to a member that finds no other: lastprivate variables get their values from
// the member that runs it, so it must be that member's last one too.
void split(Workshare* share, uint64_t chunks, int size) noexcept {
  share->split = reserve_ranges(share, size);
  if (!share->split) return;
  const auto members = static_cast<uint64_t>(size);
  ChunkRange* ranges = share->ranges.load(std::memory_order_relaxed);
  for (uint64_t i = 0; i < members; ++i) {
    ranges[i].set(chunks * i / members, chunks * (i + 1) / members);
  }
}

}  // namespace

void share_dynamic_loop(Workshare* share, const base::LoopSchedule& schedule, uint64_t chunk, uint64_t count,
                        int sharers) noexcept {
  share->kind = schedule.kind;
  share->count = count;
  share->chunk = chunk;
  share->split = false;
  share->last_apart = true;
  share->sharers = sharers;
  share->groups = 0;
  share->at_once = {};
  share->next.store(0, std::memory_order_relaxed);
  if (schedule.kind != Kind::dynamic || schedule.monotonic) return;
  const uint64_t chunks = count / chunk + (count % chunk != 0 ? 1 : 0);
  // With few chunks for each the parts would be uneven, and most of them stolen.
  constexpr uint64_t kLeastPerMember = 4;
  const auto members = static_cast<uint64_t>(sharers);
  const uint64_t shared_limit =
      std::min(kSharedChunksPerMember * members, std::max(kSharedChunks, kLeastPerMember * members));
  if (chunks > shared_limit && chunks < ChunkRange::kLimit) split(share, chunks - 1, sharers);
}

void share_by_groups(Workshare* share) noexcept {
  // With few chunks for each it matters more that none waits while somebody has time.
  constexpr uint64_t kLeastPerMember = 8;
  const uint64_t chunks = share->count / share->chunk + (share->count % share->chunk != 0 ? 1 : 0);
  const int groups = ChunkGroups::count_of(share->sharers);
  if (chunks < kLeastPerMember * static_cast<uint64_t>(share->sharers) || chunks >= ChunkRange::kLimit) return;
  // Groups take more than is there, and more than once.
  if (!counts_freely(share) || share->chunk > UINT32_MAX || !reserve_ranges(share, groups)) return;
  ChunkRange* ranges = share->ranges.load(std::memory_order_relaxed);
  for (int i = 0; i < groups; ++i) {
    ranges[i].set_unfilled();
    ranges[i].left.store(0, std::memory_order_relaxed);
  }
  share->groups = groups;
}

bool steal_near(Workshare* share, int number, uint64_t* first, uint64_t* end) noexcept {
  ChunkRange* ranges = share->ranges.load(std::memory_order_relaxed);
  const int here = thread_place_of(*share->near, number).place;
  for (int i = 1; i < share->sharers; ++i) {
    const int victim = (number + i) % share->sharers;
    if (thread_place_of(*share->near, victim).place == here && ranges[victim].take_half(first, end)) return true;
  }
  return false;
}

bool share_static_loop(Workshare* share, uint64_t chunk, uint64_t count, int sharers, ChunkRange::Bounds at_once,
                       bool last_apart) noexcept {
  share->kind = Kind::static_;
  share->count = count;
  share->chunk = chunk;
  share->last_apart = last_apart;
  share->sharers = sharers;
  share->at_once = at_once;
  share->next.store(0, std::memory_order_relaxed);
  const uint64_t chunks = count / chunk + (count % chunk != 0 ? 1 : 0);
  split(share, last_apart ? chunks - 1 : chunks, sharers);
  return share->split;
}

}  // namespace weft::openmp
