// SPDX-License-Identifier: Apache-2.0
// GOMP's loops in terms of iterations 0 .. count-1.
#pragma once

#include <cstdint>
#include <iterator>

#include "openmp/gomp/gomp.h"
#include "openmp/loop/doacross.h"
#include "openmp/loop/extras.h"
#include "openmp/loop/ordered.h"

namespace weft::openmp::gomp {

// `for (i = start; incr > 0 ? i < end : i > end; i += incr)`.
inline uint64_t count_of(long start, long end, long incr) noexcept {
  const auto from = static_cast<uint64_t>(start);
  const auto to = static_cast<uint64_t>(end);
  if (incr > 0) return start < end ? (to - from - 1) / static_cast<uint64_t>(incr) + 1 : 0;
  return start > end ? (from - to - 1) / (uint64_t{0} - static_cast<uint64_t>(incr)) + 1 : 0;
}

// The unsigned loop: for !up the increment is negative in two's complement.
inline uint64_t count_of(bool up, uint64_t start, uint64_t end, uint64_t incr) noexcept {
  if (up) return start < end ? (end - start - 1) / incr + 1 : 0;
  return start > end ? (start - end - 1) / (uint64_t{0} - incr) + 1 : 0;
}

[[gnu::always_inline]] inline void begin(Member* member, const base::LoopSchedule& schedule, uint64_t chunk,
                                         uint64_t first, uint64_t step, uint64_t count,
                                         tool::Listener listener = tool::Listener::possible) noexcept {
  begin_loop(member, schedule, chunk, count, false, listener);
  member->loop.base = first;
  member->loop.step = step;
}

// A schedule as gcc passes it as a number, without the modifier monotonic: see schedule().
struct Said {
  base::LoopSchedule::Kind kind = base::LoopSchedule::Kind::static_;
  bool runtime = false;

  explicit Said(long number) noexcept {
    using Kind = base::LoopSchedule::Kind;
    constexpr unsigned kMonotonic = 1u << 31;
    constexpr Kind kKinds[] = {Kind::dynamic, Kind::static_, Kind::dynamic, Kind::guided, Kind::auto_};
    const auto bits = static_cast<unsigned>(number);
    const unsigned index = bits & ~kMonotonic;
    runtime = index == 0;
    if (index < std::size(kKinds)) kind = kKinds[index];
  }
};

inline base::LoopSchedule chosen(Member* member, base::LoopSchedule::Kind kind, bool runtime,
                                 uint64_t* chunk) noexcept {
  if (runtime) return runtime_schedule(member, chunk);
  return schedule(kind);
}

// At the end of any worksharing construct.
[[gnu::always_inline]] inline void leave_loop(Member* member,
                                              tool::Listener listener = tool::Listener::possible) noexcept {
  end_doacross(member);
  end_loop(member, nullptr, listener);
  end_extras(member);
}

// The member's next chunk as values of the loop variable, the end exclusive.
template <class Value>
void give(const LoopCursor& loop, uint64_t first, uint64_t after, Value* begin, Value* end) noexcept {
  *begin = static_cast<Value>(loop.base + first * loop.step);
  *end = static_cast<Value>(loop.base + after * loop.step);
}

template <class Value>
[[gnu::noinline]] bool next_uncounted(Member* member, Value* begin, Value* end) noexcept {
  Chunk chunk;
  if (!next_chunk(member, &chunk)) return false;
  give(member->loop, chunk.begin, chunk.end, begin, end);
  return true;
}

// In line for loops with a counter: the less is done between two of its increments, the more of them a CPU makes while
// it has the line.
template <class Value>
[[gnu::always_inline]] inline bool next(Member* member, Value* begin, Value* end) noexcept {
  const LoopCursor& loop = member->loop;
  if (__builtin_expect(loop.from != LoopCursor::kCounter, 0)) return next_uncounted(member, begin, end);
  uint64_t first = 0;
  uint64_t after = 0;
  if (!next_counted(loop, &first, &after)) return false;
  give(loop, first, after, begin, end);
  return true;
}

}  // namespace weft::openmp::gomp
