// SPDX-License-Identifier: Apache-2.0
// What a team and its members keep of the worksharing constructs they are in (loop/worksharing.h).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "openmp/record/chunk_groups.h"
#include "openmp/record/workshare.h"

namespace weft::openmp {

// Records of a team that may be in use at the same time.
inline constexpr uint32_t kLoopRing = 8;

// What a team keeps of its worksharing constructs.
struct TeamLoops {
  alignas(64) std::atomic<uint32_t> next_single{0};
  std::atomic<void*> copyprivate{nullptr};
  std::array<Workshare, kLoopRing> ring{};
  Workshare region;  // of a region that is one loop (loop_region.h)
  std::atomic<uint32_t> cancelled{0};  // cancel.h: which construct is
  // cancelled_copies.h: of which construct `copyprivate` is, and the last one that all have done with. 0: none yet.
  std::atomic<uint64_t> copies{0};
  std::atomic<uint64_t> copies_done{0};
};

// Where a member stands in its present loop.
struct LoopCursor {
  Workshare* share = nullptr;
  uint64_t count = 0;
  uint64_t chunk = 1;
  uint64_t position = 0;  // static: next chunk; else: the last chunk's end
  uint64_t base = 0;  // the adapter's: first value and step of the loop variable
  uint64_t step = 0;
  uint64_t unit_begin = 0;  // ordered loops: the iterations that take their turn together; none if equal
  uint64_t unit_end = 0;
  uint64_t iteration = 0;  // the adapter's, where the program says when one ends
  // Where its chunks come from, and whether a tool is told of them. kCounter: of a share, by its counter alone;
  // kGroups: the same, by groups of members (chunk_groups.h).
  enum From : uint8_t { kShare, kSchedule, kWhole, kReported = 4, kCounter = 8, kGroups = 16 };
  uint8_t from = kShare;
  uint32_t unreported = 0;  // with kReported: so many of the next chunks are not
  GroupCursor group;

  bool whole() const noexcept { return (from & kWhole) != 0; }  // a team of one takes everything at once
  bool reported() const noexcept { return (from & kReported) != 0; }
};

// The next chunk of a loop whose chunks come from a counter (LoopCursor::kCounter): iterations *begin .. *end-1.
inline bool next_counted(const LoopCursor& loop, uint64_t* begin, uint64_t* end) noexcept {
  // Relaxed: a value is all that passes. Without a look first, which would fetch the line once more; each member goes
  // beyond the end once, for which there is room (counts_freely).
  *begin = loop.share->next.fetch_add(loop.chunk, std::memory_order_relaxed);
  if (*begin >= loop.count) return false;
  *end = loop.count - *begin > loop.chunk ? *begin + loop.chunk : loop.count;
  return true;
}

}  // namespace weft::openmp
