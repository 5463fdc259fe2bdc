// SPDX-License-Identifier: Apache-2.0
// The record of a worksharing construct, and how members take the chunks of a loop from it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/options.h"
#include "openmp/record/chunk_range.h"
#include "openmp/record/placement.h"

namespace weft::openmp {

// One worksharing construct of a team. Life of `state`, for construct number s: 2s-1 one member sets it up,
// 2s in use, 2s+1 all members have left (the record may serve s + ring size).
struct alignas(64) Workshare {
  // Release by the member that sets up or leaves last, acquire by the others.
  std::atomic<uint32_t> state{1};
  std::atomic<int> left{0};
  base::LoopSchedule::Kind kind = base::LoopSchedule::Kind::dynamic;
  bool split = false;  // chunks are in `ranges`, not in `next`
  bool last_apart = true;  // then the last chunk stands in no range, and is taken when there are no others
  int sharers = 0;  // members that have a range
  int groups = 0;  // of members, each with a range beside the counter (chunk_groups.h); 0: there are none
  ChunkRange::Bounds at_once;  // of chunks in `ranges`
  const Placement* near =
      nullptr;  // where the sharers are: one that has nothing left helps those of its own place first
  uint64_t count = 0;
  uint64_t chunk = 1;
  // Of each member: chunks that are not handed out yet. Written by the member that sets up; atomic, since the monitor
  // looks at any time (progress.h). Shorter tables that these have replaced stay for that.
  std::atomic<ChunkRange*> ranges{nullptr};
  std::atomic<int> capacity{0};
  struct Outgrown {
    ChunkRange* ranges;
    Outgrown* next;
  };
  Outgrown* outgrown = nullptr;

  // The next iteration (dynamic, guided). Relaxed: a value is all that passes.
  alignas(64) std::atomic<uint64_t> next{0};

  // Order between iterations (ordered.h, doacross.h): whose turn it is, a bit for each iteration that has posted, and
  // how many members sleep until it is theirs.
  alignas(64) std::atomic<uint64_t> turn{0};
  std::atomic<uint64_t>* posted = nullptr;
  uint64_t row_length = 0;
  uint64_t band_words = 0;
  std::atomic<int> in_line{0};

  // The adapter's: reductions of tasks, and memory that the program has asked for. Written by the member that sets up.
  void* reductions = nullptr;
  void* memory = nullptr;
};

// A range of iterations.
struct Chunk {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool last = false;  // holds the sequentially last iteration
};

// The construct becomes a loop of `count` iterations, for `sharers` members. By the member that sets it up.
void share_dynamic_loop(Workshare* share, const base::LoopSchedule& schedule, uint64_t chunk, uint64_t count,
                        int sharers) noexcept;

// A static loop without an order of its chunks: each sharer begins with its own part, takes `at_once` of it, and then
// from what others have left. `last_apart`: see Workshare. False without memory.
bool share_static_loop(Workshare* share, uint64_t chunk, uint64_t count, int sharers, ChunkRange::Bounds at_once,
                       bool last_apart) noexcept;

// Chunks first .. end-1.
inline void give_chunks(const Workshare* share, uint64_t first, uint64_t end, Chunk* chunk) noexcept {
  chunk->begin = first * share->chunk;
  const uint64_t left = share->count - chunk->begin;
  const uint64_t chunks = end - first;
  chunk->end = chunks > left / share->chunk ? share->count : chunk->begin + std::min(left, chunks * share->chunk);
  chunk->last = chunk->end == share->count;
}

// Members of a dynamic loop whose chunks come from the counter take them by groups, of neighbours by number, if there
// are many chunks (chunk_groups.h). By the member that sets it up.
inline constexpr int kMembersInGroup = 8;
void share_by_groups(Workshare* share) noexcept;

// As steal_chunks(), of the members at the caller's place.
bool steal_near(Workshare* share, int number, uint64_t* first, uint64_t* end) noexcept;

// Takes half of what another member has left: chunks *first .. *end-1.
inline bool steal_chunks(Workshare* share, int number, uint64_t* first, uint64_t* end) noexcept {
  ChunkRange* ranges = share->ranges.load(std::memory_order_relaxed);
  const int sharers = share->sharers;
  if (__builtin_expect(share->near != nullptr, 0) && steal_near(share, number, first, end)) return true;
  for (int i = 1; i < sharers; ++i) {
    const int victim = number + i < sharers ? number + i : number + i - sharers;
    if (ranges[victim].take_half(first, end)) return true;
  }
  return false;
}

// `had_last`: the member has had the chunk that stands apart.
inline bool next_split(Workshare* share, int number, uint64_t& had_last, Chunk* chunk) noexcept {
  ChunkRange& mine = share->ranges.load(std::memory_order_relaxed)[number];
  uint64_t first = 0;
  uint64_t end = 0;
  if (mine.take(share->at_once, &first, &end)) {
    give_chunks(share, first, end, chunk);
    return true;
  }
  if (had_last != 0) return false;
  if (steal_chunks(share, number, &first, &end)) {
    const uint64_t now = share->at_once.of(end - first);
    mine.set(first + now, end);
    give_chunks(share, first, first + now, chunk);
    return true;
  }
  if (!share->last_apart) return false;
  // Relaxed: this only decides which member gets it.
  if (share->next.load(std::memory_order_relaxed) != 0) return false;
  if (share->next.exchange(1, std::memory_order_relaxed) != 0) return false;
  had_last = 1;
  const uint64_t last = (share->count - 1) / share->chunk;
  give_chunks(share, last, last + 1, chunk);
  return true;
}

// Whether members may add to `next` without looking: each goes beyond the end once.
inline bool counts_freely(const Workshare* share) noexcept {
  return share->count <= UINT64_MAX / 2 && share->chunk <= UINT64_MAX / (2 * 65536);
}

inline bool next_shared(Workshare* share, Chunk* chunk) noexcept {
  // Looking first keeps the counter from running on past the end.
  uint64_t begin = share->next.load(std::memory_order_relaxed);
  if (begin >= share->count) return false;
  if (counts_freely(share)) {
    begin = share->next.fetch_add(share->chunk, std::memory_order_relaxed);
    if (begin >= share->count) return false;
  } else {
    do {
      if (begin >= share->count) return false;
    } while (!share->next.compare_exchange_weak(
        begin, share->count - begin > share->chunk ? begin + share->chunk : share->count, std::memory_order_relaxed));
  }
  chunk->begin = begin;
  chunk->end = share->count - begin > share->chunk ? begin + share->chunk : share->count;
  chunk->last = chunk->end == share->count;
  return true;
}

inline bool next_guided(Workshare* share, Chunk* chunk) noexcept {
  const auto members = static_cast<uint64_t>(share->sharers);
  uint64_t begin = share->next.load(std::memory_order_relaxed);
  uint64_t end = 0;
  do {
    if (begin >= share->count) return false;
    const uint64_t left = share->count - begin;
    const uint64_t part = std::max(left / members + (left % members != 0 ? 1 : 0), share->chunk);
    end = begin + std::min(left, part);
  } while (!share->next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
  chunk->begin = begin;
  chunk->end = end;
  chunk->last = end == share->count;
  return true;
}

// The next chunk for member `number` of the sharers.
inline bool next_of_share(Workshare* share, int number, uint64_t& had_last, Chunk* chunk) noexcept {
  if (share->split) return next_split(share, number, had_last, chunk);
  return share->kind == base::LoopSchedule::Kind::guided ? next_guided(share, chunk) : next_shared(share, chunk);
}

}  // namespace weft::openmp
