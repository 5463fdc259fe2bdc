// SPDX-License-Identifier: Apache-2.0
// Chunks of a counter that many members share: a member takes several at a time where chunks are so short that the
// members would stand in line for the counter. Each member still gets its chunks in ascending order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "openmp/loop/workshare.h"
#include "platform/cycles.h"

namespace weft::openmp {

// What a member has taken of the counter, and how many chunks it takes the next time.
struct ChunkBatch {
  // In smaller teams the counter has time for each.
  static constexpr int kLeastMembers = 16;

  uint64_t begin = 0;  // iterations that it has and has not begun
  uint64_t end = 0;
  uint64_t chunks = 0;  // of the last time; 0: there has been none
  int64_t taken_at = 0;  // in ticks

  bool empty() const noexcept { return begin == end; }
};

// One more batch: the more chunks, the shorter the last ones were. A chunk is short if all members together would ask
// the counter more often than its line can go round. Of what is left a member takes a small part of its share only, so
// that all end at about the same time.
inline bool take_batch(Workshare* share, ChunkBatch& batch, int members) noexcept {
  constexpr uint64_t kPartOfShare = 8;
  constexpr int64_t kLinesIn20Us = 200;  // 100 ns from one CPU to another
  const int64_t line_goes_round = platform::ticks_of_20_us() / kLinesIn20Us * members;
  const bool are_short =
      batch.chunks != 0 && platform::ticks() - batch.taken_at < line_goes_round * static_cast<int64_t>(batch.chunks);
  const uint64_t left = batch.end < share->count ? (share->count - batch.end) / share->chunk : 0;
  const uint64_t most = std::clamp<uint64_t>(left / (kPartOfShare * static_cast<uint64_t>(members)), 1, kMostInBatch);
  batch.chunks = are_short ? std::min(2 * batch.chunks, most) : 1;
  const uint64_t iterations = batch.chunks * share->chunk;
  // Relaxed: a value is all that passes. Each member goes beyond the end once (counts_freely).
  batch.begin = share->next.fetch_add(iterations, std::memory_order_relaxed);
  batch.end = batch.begin;
  if (batch.begin >= share->count) return false;
  batch.taken_at = platform::ticks();
  batch.end = share->count - batch.begin > iterations ? batch.begin + iterations : share->count;
  return true;
}

inline bool next_of_batch(Workshare* share, ChunkBatch& batch, int members, Chunk* chunk) noexcept {
  if (batch.empty() && !take_batch(share, batch, members)) return false;
  chunk->begin = batch.begin;
  chunk->end = batch.end - batch.begin > share->chunk ? batch.begin + share->chunk : batch.end;
  chunk->last = chunk->end == share->count;
  batch.begin = chunk->end;
  return true;
}

}  // namespace weft::openmp
