// SPDX-License-Identifier: Apache-2.0
// Worksharing constructs (OpenMP 5.2, section 11): loops, sections, single.
//
// A loop is counted in iterations 0 .. count-1, whatever its type and direction; adapters translate. Each
// construct uses one record of a ring in the team, so that members may be several `nowait` loops apart.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/options.h"
#include "openmp/loop/chunk_groups.h"
#include "openmp/loop/workshare.h"
#include "openmp/ompt/events.h"
#include "openmp/team/barrier.h"

namespace weft::openmp {

struct Member;

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
  enum From : uint8_t { kShare, kSchedule, kWhole, kTold = 4, kCounter = 8, kGroups = 16 };
  uint8_t from = kShare;
  uint32_t untold = 0;  // with kTold: so many of the next chunks are not
  GroupCursor group;

  bool whole() const noexcept { return (from & kWhole) != 0; }  // a team of one takes everything at once
  bool told() const noexcept { return (from & kTold) != 0; }
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

// Enters a loop of `count` iterations. A `schedule.chunk` of 0 means unset. Shared: the member has a Workshare whatever
// the schedule, unless it is alone.
void enter_loop(Member* self, const base::LoopSchedule& schedule, uint64_t chunk, uint64_t count, bool shared,
                bool told) noexcept;
template <bool Told = true>
void begin_loop(Member* self, const base::LoopSchedule& schedule, uint64_t chunk, uint64_t count,
                bool shared = false) noexcept {
  const bool told = ompt::on<Told>();
  if (told) ompt::begin_loop(self, schedule.kind, count);
  enter_loop(self, schedule, chunk, count, shared, told);
}

// The member's next chunk; false when there is none left.
bool next_chunk(Member* self, Chunk* chunk) noexcept;

// Whether the member is in a loop of which it is known that all iterations have been handed out.
bool loop_exhausted(const Member* self) noexcept;

// Leaves the loop: once per member, whether next_chunk has said false or not. `caller`: the code that called the
// runtime, unless an ompt::Entry has noted it.
void exit_loop(Member* self) noexcept;
template <bool Told = true>
void end_loop(Member* self, const void* caller = nullptr) noexcept {
  if (ompt::on<Told>()) ompt::end_work(self, caller);
  exit_loop(self);
}

// The record of the construct that the members meet now. `first`: the caller is the one to set it up, then to open it.
Workshare* claim_workshare(Member* self, bool* first) noexcept;
void open_workshare(Workshare* share) noexcept;

template <class SetUp>
Workshare* join_workshare(Member* self, SetUp&& set_up) noexcept {
  bool first = false;
  Workshare* share = claim_workshare(self, &first);
  if (first) {
    set_up(share);
    open_workshare(share);
  }
  return share;
}

// The member has no use for it any more.
void leave_workshare(Member* self, Workshare* share) noexcept;

// A sections construct: a loop over `count` sections.
void enter_sections(Member* self, uint64_t count, bool told) noexcept;
template <bool Told = true>
void begin_sections(Member* self, uint64_t count) noexcept {
  const bool told = ompt::on<Told>();
  if (told) ompt::begin_work(self, ompt_work_sections, count);
  enter_sections(self, count, told);
}

// True for the one member that executes the single region met now.
bool enter_single(Member* self) noexcept;
template <bool Told = true>
bool begin_single(Member* self) noexcept {
  const bool executes = enter_single(self);
  if (ompt::on<Told>()) ompt::begin_single(self, executes);
  return executes;
}

// copyprivate: what the member that executes the single region offers the others; null from those. A barrier follows
// when they have copied. `kind`, `caller`: of the barrier before (barrier.h).
void* exchange_copies(Member* self, void* offered, Barrier kind, const void* caller) noexcept;

}  // namespace weft::openmp
