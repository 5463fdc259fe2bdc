// SPDX-License-Identifier: Apache-2.0
// Worksharing constructs (OpenMP 5.2, section 11): loops, sections, single.
//
// A loop is counted in iterations 0 .. count-1, whatever its type and direction; adapters translate. Each
// construct uses one record of a ring in the team, so that members may be several `nowait` loops apart.
#pragma once

#include <cstdint>

#include "base/options.h"
#include "openmp/record/loops.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

struct Member;

// Enters a loop of `count` iterations. A `schedule.chunk` of 0 means unset. Shared: the member has a Workshare whatever
// the schedule, unless it is alone. Reported: to a tool.
void enter_loop(Member* self, const base::LoopSchedule& schedule, uint64_t chunk, uint64_t count, bool shared,
                bool reported) noexcept;
[[gnu::always_inline]] inline void begin_loop(Member* self, const base::LoopSchedule& schedule, uint64_t chunk,
                                              uint64_t count, bool shared = false,
                                              tool::Listener listener = tool::Listener::possible) noexcept {
  tool::begin_loop(listener, self, schedule.kind, count);
  enter_loop(self, schedule, chunk, count, shared, tool::is_on(listener));
}

// Enters the loop that the region is, which stands in the team's record (TeamLoops::region), for some of the members.
// For dynamic and guided schedules, without an order.
void enter_loop_of_region(Member* self) noexcept;

// The member's next chunk; false when there is none left.
bool next_chunk(Member* self, Chunk* chunk) noexcept;

// Whether the member is in a loop of which it is known that all iterations have been handed out.
bool loop_exhausted(const Member* self) noexcept;

// Leaves the loop: once per member, whether next_chunk has said false or not. `caller`: the code that called the
// runtime, unless a tool::Entry has noted it.
void exit_loop(Member* self) noexcept;
[[gnu::always_inline]] inline void end_loop(Member* self, const void* caller = nullptr,
                                            tool::Listener listener = tool::Listener::possible) noexcept {
  tool::end_work(listener, self, caller);
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
void enter_sections(Member* self, uint64_t count, bool reported) noexcept;
[[gnu::always_inline]] inline void begin_sections(Member* self, uint64_t count,
                                                  tool::Listener listener = tool::Listener::possible) noexcept {
  tool::begin_work(listener, self, ompt_work_sections, count);
  enter_sections(self, count, tool::is_on(listener));
}

// True for the one member that executes the single region met now.
bool enter_single(Member* self) noexcept;
[[gnu::always_inline]] inline bool begin_single(Member* self,
                                                tool::Listener listener = tool::Listener::possible) noexcept {
  const bool executes = enter_single(self);
  tool::begin_single(listener, self, executes);
  return executes;
}

}  // namespace weft::openmp
