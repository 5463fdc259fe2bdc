// SPDX-License-Identifier: Apache-2.0
// Chunks of a counter that many members share. All members together would ask the counter more often than its line can
// go round. So neighbours by number, which mostly run on neighbouring CPUs, are a group: one of them takes chunks for
// all from the counter and puts them into the group's range, and each takes from that, one by one or a few where they
// are short. Each member gets its chunks in ascending order.
//
// Only the member that has taken the last chunks of a range fills the range again, so what the range says follows on
// all that it said before. Where chunks are short the member does so at once: the new ones are there when the others
// come. A member that waits long for that takes a chunk of the counter for itself, and from then on looks whether the
// range is not behind that. A member comes back for what it has filled in. So nothing is left over, and a member that
// waits for an earlier iteration waits for one that has begun or will.
#pragma once

#include <algorithm>
#include <cstdint>

#include "openmp/record/workshare.h"
#include "platform/cycles.h"

namespace weft::openmp {

// Where a member stands in such a loop. Numbers are those of chunks.
struct GroupCursor {
  uint64_t begin = 0;  // what it has and has not begun
  uint64_t end = 0;  // that has passed: what it gets comes behind
  uint64_t taken = 0;  // chunks of the last time; 0: there has been none
  int64_t taken_at = 0;  // in ticks
  bool apart = false;  // the last ones came from the counter

  bool empty() const noexcept { return begin == end; }
};

struct ChunkGroups {
  // In smaller teams the counter has time for each.
  static constexpr int kLeastMembers = 16;

  static constexpr int count_of(int members) noexcept { return (members + kMembersInGroup - 1) / kMembersInGroup; }

  // How many chunks a member takes at once, and how many of the counter for its group.
  struct Sizes {
    uint64_t own;
    uint64_t group;
  };

  // `chunk_ticks`: what one takes; 0: not known. `left`: chunks that the counter has, about.
  static Sizes sizes(int members, int64_t chunk_ticks, bool known, uint64_t left) noexcept {
    constexpr int64_t kFarLinesIn20Us = 200;  // 100 ns from one CPU to another
    constexpr int64_t kNearLinesIn20Us = 600;  // 33 ns, in a group
    constexpr uint64_t kPartOfShare = 8;
    constexpr uint64_t kLinesForFilling =
        64;  // a member that fills is held up by some lines, and maybe its group with it
    const auto everybody = static_cast<uint64_t>(members);
    const auto groups = static_cast<uint64_t>(count_of(members));
    const int64_t far_line = std::max<int64_t>(1, platform::ticks_of_20_us() / kFarLinesIn20Us);
    // Long chunks leave the counter time for each. Where a member has few of them left, nobody is to have another
    // one's.
    const bool long_ones = known && chunk_ticks >= far_line * members;
    if (long_ones || (!known && left / everybody < kPartOfShare)) return {1, 1};
    if (!known) return {1, kMembersInGroup};
    const auto ticks = static_cast<uint64_t>(std::max<int64_t>(chunk_ticks, 1));
    const auto near_round = static_cast<uint64_t>(platform::ticks_of_20_us() * kMembersInGroup / kNearLinesIn20Us);
    const auto far_round = static_cast<uint64_t>(far_line) * groups;
    // The lines are to be free half of the time. Towards the end all are to end at about the same time: a member takes
    // a small part of its share only, and a group as little as leaves the counter time for all groups.
    const uint64_t most = std::clamp<uint64_t>(left / (kPartOfShare * everybody), 1, kMostAtOnce);
    const uint64_t own = std::clamp<uint64_t>(2 * near_round / ticks, 1, most);
    const uint64_t least_each = far_round / ticks + 1;
    const uint64_t few = kLinesForFilling * static_cast<uint64_t>(far_line);
    const uint64_t each =
        std::clamp(left / (2 * everybody), least_each, std::max(std::max(2 * far_round, few) / ticks, least_each));
    return {own, kMembersInGroup * std::min(std::max(each, own), kMostForEach)};
  }

  // The next chunks for member `number`: true, and they stand in `mine`.
  static bool take(Workshare* share, GroupCursor& mine, int number, int members) noexcept {
    ChunkRange& group = share->ranges.load(std::memory_order_relaxed)[number / kMembersInGroup];
    const bool known = mine.taken != 0;
    const int64_t chunk_ticks =
        known ? (platform::ticks() - mine.taken_at) / static_cast<int64_t>(mine.taken) : int64_t{0};
    // What the member has had last is about where the counter is.
    const uint64_t chunks = chunks_of(share);
    const Sizes at_once = sizes(members, chunk_ticks, known, chunks - std::min(mine.end, chunks));
    const bool by_group = at_once.group > 1;
    // At the beginning the members that fill stand in line for the counter.
    const int polls_for_fill = 100 + 16 * share->groups;
    for (int polls = 0;; ++polls) {
      uint64_t first = 0;
      uint64_t end = 0;
      if (polls > 0 || mine.apart || !by_group) {
        switch (group.look(&first)) {
          case Found::some:
            if (first < mine.end) return take_apart(share, mine, chunks);
            break;
          case Found::unfilled:
            if (!by_group) return take_apart(share, mine, chunks);
            break;
          case Found::over: return false;
          default:
            if (polls > polls_for_fill) return take_apart(share, mine, chunks);
            platform::pause();
            continue;
        }
      }
      switch (group.take_some(at_once.own, &first, &end)) {
        case Found::some: hold(mine, first, end); return true;
        case Found::last:
          if (known && by_group) {
            fill(share, group, at_once.group, chunks);
          } else {
            group.set_unfilled();
          }
          hold(mine, first, end);
          return true;
        case Found::unfilled:
          first = take_of_counter(share, at_once.group);
          end = std::min(first + at_once.own, chunks);
          set_rest(group, end, first + at_once.group, chunks);
          if (first >= chunks) return false;
          hold(mine, first, end);
          return true;
        case Found::over: return false;
        case Found::filled: break;
      }
    }
  }

 private:
  using Found = ChunkRange::Found;
  static constexpr uint64_t kMostAtOnce = 64;
  static constexpr uint64_t kMostForEach = 4096;

  static void hold(GroupCursor& mine, uint64_t first, uint64_t end) noexcept {
    mine.begin = first;
    mine.end = end;
    mine.taken = end - first;
    mine.taken_at = platform::ticks();
    mine.apart = false;
  }

  static bool take_apart(Workshare* share, GroupCursor& mine, uint64_t chunks) noexcept {
    const uint64_t first = take_of_counter(share, 1);
    if (first >= chunks) return false;
    hold(mine, first, first + 1);
    mine.apart = true;
    return true;
  }

  static uint64_t chunks_of(const Workshare* share) noexcept {
    return share->count / share->chunk + (share->count % share->chunk != 0 ? 1 : 0);
  }

  // Relaxed: a value is all that passes. Looking first keeps the counter from running on past the end.
  static uint64_t take_of_counter(Workshare* share, uint64_t chunks) noexcept {
    if (share->next.load(std::memory_order_relaxed) >= share->count) return ChunkRange::kLimit;
    return share->next.fetch_add(chunks * share->chunk, std::memory_order_relaxed) / share->chunk;
  }

  // Both by the one that is to fill the range.
  static void fill(Workshare* share, ChunkRange& group, uint64_t size, uint64_t chunks) noexcept {
    const uint64_t first = take_of_counter(share, size);
    set_rest(group, first, first + size, chunks);
  }
  static void set_rest(ChunkRange& group, uint64_t first, uint64_t end, uint64_t chunks) noexcept {
    if (first >= chunks) {
      group.set_over();
    } else if (first < end) {
      group.set(first, std::min(end, chunks));
    } else {
      group.set_unfilled();
    }
  }
};

inline bool next_of_group(Workshare* share, GroupCursor& mine, int number, int members, Chunk* chunk) noexcept {
  if (mine.empty() && !ChunkGroups::take(share, mine, number, members)) return false;
  give_chunks(share, mine.begin, mine.begin + 1, chunk);
  ++mine.begin;
  return true;
}

}  // namespace weft::openmp
