// SPDX-License-Identifier: Apache-2.0
// GOMP: worksharing loops of `long` and of `unsigned long long`.
#include "openmp/gomp/loop.h"

#include "openmp/loop/extras.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;
using Kind = base::LoopSchedule::Kind;
using Ull = unsigned long long;

namespace {

[[gnu::always_inline]] inline bool start(Kind kind, bool runtime, long first, long end, long incr, long chunk,
                                         long* begin_at, long* end_at) {
  return tool::enter([=](Member* member, auto listener, const void*) {
    auto unit = static_cast<uint64_t>(chunk);
    const base::LoopSchedule how = chosen(member, kind, runtime, &unit);
    begin(member, how, unit, static_cast<uint64_t>(first), static_cast<uint64_t>(incr), count_of(first, end, incr),
          listener);
    return next(member, begin_at, end_at);
  });
}

[[gnu::always_inline]] inline bool start_ull(Kind kind, bool runtime, bool up, Ull first, Ull end, Ull incr, Ull chunk,
                                             Ull* begin_at, Ull* end_at) {
  return tool::enter([=](Member* member, auto listener, const void*) {
    uint64_t unit = chunk;
    const base::LoopSchedule how = chosen(member, kind, runtime, &unit);
    begin(member, how, unit, first, incr, count_of(up, first, end, incr), listener);
    return next(member, begin_at, end_at);
  });
}

}  // namespace

// The same with what some loops have beside iterations. No `begin_at`: the program cuts the iterations itself.
WEFT_ABI(bool, GOMP_loop_start)(long first, long end, long incr, long how, long chunk, long* begin_at, long* end_at,
                                Words* reductions, void** memory) {
  const tool::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return begin_at == nullptr || start(said.kind, said.runtime, first, end, incr, chunk, begin_at, end_at);
}

WEFT_ABI(bool, GOMP_loop_ull_start)(bool up, Ull first, Ull end, Ull incr, long how, Ull chunk, Ull* begin_at,
                                    Ull* end_at, Words* reductions, void** memory) {
  const tool::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return begin_at == nullptr || start_ull(said.kind, said.runtime, up, first, end, incr, chunk, begin_at, end_at);
}

#define WEFT_GOMP_NEXT(name)                                                                                       \
  WEFT_ABI(bool, GOMP_loop_##name##_next)(long* begin_at, long* end_at) { return next(self(), begin_at, end_at); } \
  WEFT_ABI(bool, GOMP_loop_ull_##name##_next)(Ull * begin_at, Ull * end_at) { return next(self(), begin_at, end_at); }

#define WEFT_GOMP_LOOP(name, kind)                                                                              \
  WEFT_ABI(bool, GOMP_loop_##name##_start)(long first, long end, long incr, long chunk, long* begin_at,         \
                                           long* end_at) {                                                      \
    return start(kind, false, first, end, incr, chunk, begin_at, end_at);                                       \
  }                                                                                                             \
  WEFT_ABI(bool, GOMP_loop_ull_##name##_start)(bool up, Ull first, Ull end, Ull incr, Ull chunk, Ull* begin_at, \
                                               Ull* end_at) {                                                   \
    return start_ull(kind, false, up, first, end, incr, chunk, begin_at, end_at);                               \
  }                                                                                                             \
  WEFT_GOMP_NEXT(name)

#define WEFT_GOMP_RUNTIME_LOOP(name)                                                                                \
  WEFT_ABI(bool, GOMP_loop_##name##_start)(long first, long end, long incr, long* begin_at, long* end_at) {         \
    return start(Kind::dynamic, true, first, end, incr, 0, begin_at, end_at);                                       \
  }                                                                                                                 \
  WEFT_ABI(bool, GOMP_loop_ull_##name##_start)(bool up, Ull first, Ull end, Ull incr, Ull* begin_at, Ull* end_at) { \
    return start_ull(Kind::dynamic, true, up, first, end, incr, 0, begin_at, end_at);                               \
  }                                                                                                                 \
  WEFT_GOMP_NEXT(name)

WEFT_GOMP_LOOP(static, Kind::static_);
WEFT_GOMP_LOOP(dynamic, Kind::dynamic);
WEFT_GOMP_LOOP(guided, Kind::guided);
WEFT_GOMP_LOOP(nonmonotonic_dynamic, Kind::dynamic);
WEFT_GOMP_LOOP(nonmonotonic_guided, Kind::guided);
WEFT_GOMP_RUNTIME_LOOP(runtime);
WEFT_GOMP_RUNTIME_LOOP(nonmonotonic_runtime);
WEFT_GOMP_RUNTIME_LOOP(maybe_nonmonotonic_runtime);

WEFT_ABI(void, GOMP_loop_end)() {
  tool::enter([](Member* member, auto listener, const void* caller) {
    leave_loop(member, listener);
    barrier(member, Barrier::end_of_workshare, caller, listener);
  });
}

WEFT_ABI(void, GOMP_loop_end_nowait)() {
  tool::enter([](Member* member, auto listener, const void*) { leave_loop(member, listener); });
}
