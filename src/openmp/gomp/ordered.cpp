// SPDX-License-Identifier: Apache-2.0
// GOMP: loops with an ordered clause. The unit is a chunk, since the interface does not say where an iteration ends.
#include "openmp/loop/ordered.h"

#include "openmp/gomp/loop.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;
using Kind = base::LoopSchedule::Kind;
using Ull = unsigned long long;

namespace {

template <class Value>
bool next_unit(Member* member, Value* begin_at, Value* end_at) {
  end_unit(member);
  Chunk chunk;
  if (!next_chunk(member, &chunk)) return false;
  begin_unit(member, chunk.begin, chunk.end);
  const LoopCursor& loop = member->loop;
  *begin_at = static_cast<Value>(loop.base + chunk.begin * loop.step);
  *end_at = static_cast<Value>(loop.base + chunk.end * loop.step);
  return true;
}

template <class Value>
[[gnu::always_inline]] inline bool start_ordered(Kind kind, bool runtime, uint64_t first, uint64_t incr, uint64_t count,
                                                 uint64_t chunk, Value* begin_at, Value* end_at) {
  const tool::Entry entry(WEFT_CALLER);
  Member* member = self();
  const base::LoopSchedule how = runtime ? runtime_schedule(member, &chunk) : schedule(kind);
  begin_ordered_loop(member, how, chunk, count);
  member->loop.base = first;
  member->loop.step = incr;
  return next_unit(member, begin_at, end_at);
}

[[gnu::always_inline]] inline bool start_loop(Kind kind, bool runtime, long first, long end, long incr, long chunk,
                                              long* begin_at, long* end_at) {
  return start_ordered(kind, runtime, static_cast<uint64_t>(first), static_cast<uint64_t>(incr),
                       count_of(first, end, incr), static_cast<uint64_t>(chunk), begin_at, end_at);
}

[[gnu::always_inline]] inline bool start_loop_ull(Kind kind, bool runtime, bool up, Ull first, Ull end, Ull incr,
                                                  Ull chunk, Ull* begin_at, Ull* end_at) {
  return start_ordered(kind, runtime, first, incr, count_of(up, first, end, incr), chunk, begin_at, end_at);
}

}  // namespace

WEFT_ABI(bool, GOMP_loop_ordered_start)(long first, long end, long incr, long how, long chunk, long* begin_at,
                                        long* end_at, Words* reductions, void** memory) {
  const tool::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return begin_at == nullptr || start_loop(said.kind, said.runtime, first, end, incr, chunk, begin_at, end_at);
}

WEFT_ABI(bool, GOMP_loop_ull_ordered_start)(bool up, Ull first, Ull end, Ull incr, long how, Ull chunk, Ull* begin_at,
                                            Ull* end_at, Words* reductions, void** memory) {
  const tool::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return begin_at == nullptr || start_loop_ull(said.kind, said.runtime, up, first, end, incr, chunk, begin_at, end_at);
}

WEFT_ABI(void, GOMP_ordered_start)() {
  const tool::Entry entry(WEFT_CALLER);
  begin_ordered(self());
}

WEFT_ABI(void, GOMP_ordered_end)() {
  const tool::Entry entry(WEFT_CALLER);
  end_ordered(self());
}

#define WEFT_ORDERED_LOOP(name, kind)                                                                           \
  WEFT_ABI(bool, GOMP_loop_ordered_##name##_start)(long first, long end, long incr, long chunk, long* begin_at, \
                                                   long* end_at) {                                              \
    return start_loop(kind, false, first, end, incr, chunk, begin_at, end_at);                                  \
  }                                                                                                             \
  WEFT_ABI(bool, GOMP_loop_ull_ordered_##name##_start)(bool up, Ull first, Ull end, Ull incr, Ull chunk,        \
                                                       Ull* begin_at, Ull* end_at) {                            \
    return start_loop_ull(kind, false, up, first, end, incr, chunk, begin_at, end_at);                          \
  }
#define WEFT_ORDERED_NEXT(name)                                                       \
  WEFT_ABI(bool, GOMP_loop_ordered_##name##_next)(long* begin_at, long* end_at) {     \
    return next_unit(self(), begin_at, end_at);                                       \
  }                                                                                   \
  WEFT_ABI(bool, GOMP_loop_ull_ordered_##name##_next)(Ull * begin_at, Ull * end_at) { \
    return next_unit(self(), begin_at, end_at);                                       \
  }

WEFT_ORDERED_LOOP(static, Kind::static_);
WEFT_ORDERED_LOOP(dynamic, Kind::dynamic);
WEFT_ORDERED_LOOP(guided, Kind::guided);
WEFT_ORDERED_NEXT(static);
WEFT_ORDERED_NEXT(dynamic);
WEFT_ORDERED_NEXT(guided);
WEFT_ORDERED_NEXT(runtime);

WEFT_ABI(bool, GOMP_loop_ordered_runtime_start)(long first, long end, long incr, long* begin_at, long* end_at) {
  return start_loop(Kind::dynamic, true, first, end, incr, 0, begin_at, end_at);
}

WEFT_ABI(bool, GOMP_loop_ull_ordered_runtime_start)(bool up, Ull first, Ull end, Ull incr, Ull* begin_at, Ull* end_at) {
  return start_loop_ull(Kind::dynamic, true, up, first, end, incr, 0, begin_at, end_at);
}
