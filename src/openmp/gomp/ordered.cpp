// SPDX-License-Identifier: Apache-2.0
// GOMP: loops with an ordered clause, and doacross loops.
#include "openmp/loop/ordered.h"

#include <cstdarg>

#include "openmp/gomp/loop.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;
using Kind = base::LoopSchedule::Kind;
using Ull = unsigned long long;

namespace {

// ---- ordered: the unit is a chunk, since the interface does not say where an iteration ends ----

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
  const ompt::Entry entry(WEFT_CALLER);
  Member* member = self();
  const base::LoopSchedule how = runtime ? runtime_schedule(member, &chunk) : schedule(kind, true);
  begin_ordered_loop(member, how, chunk, count);
  member->loop.base = first;
  member->loop.step = incr;
  return next_unit(member, begin_at, end_at);
}

[[gnu::always_inline]] inline bool start(Kind kind, bool runtime, long first, long end, long incr, long chunk,
                                         long* begin_at, long* end_at) {
  return start_ordered(kind, runtime, static_cast<uint64_t>(first), static_cast<uint64_t>(incr),
                       count_of(first, end, incr), static_cast<uint64_t>(chunk), begin_at, end_at);
}

[[gnu::always_inline]] inline bool start_ull(Kind kind, bool runtime, bool up, Ull first, Ull end, Ull incr, Ull chunk,
                                             Ull* begin_at, Ull* end_at) {
  return start_ordered(kind, runtime, first, incr, count_of(up, first, end, incr), chunk, begin_at, end_at);
}

// ---- doacross: counts of iterations for each loop of the nest, the distributed one first; it runs from 0 ----

template <class Value>
[[gnu::always_inline]] inline bool start_doacross(Kind kind, bool runtime, unsigned loops, const Value* counts,
                                                  Value chunk, Value* begin_at, Value* end_at) {
  const ompt::Entry entry(WEFT_CALLER);
  check_doacross_loops(static_cast<int>(loops));
  Member* member = self();
  uint64_t inner = 1;
  for (unsigned i = loops; i-- > 1;) {
    inner *= static_cast<uint64_t>(counts[i]);
  }
  const auto outer = static_cast<uint64_t>(counts[0]);
  // Where there are no rows the program leaves the other counts unset.
  begin_doacross(member, outer, outer > 0 ? inner : 0);
  for (unsigned i = 0; i < loops; ++i) {
    member->doacross_counts[i] = static_cast<uint64_t>(counts[i]);
  }
  member->doacross_loops = static_cast<int>(loops);
  auto unit = static_cast<uint64_t>(chunk);
  const base::LoopSchedule how = runtime ? runtime_schedule(member, &unit) : schedule(kind, true);
  begin(member, how, unit, 0, 1, outer);
  return next(member, begin_at, end_at);
}

// Where an iteration is in each loop of the nest, counted from 0: `index(i)` in loop i, asked in turn.
class Position {
 public:
  template <class Index>
  Position(Member* member, Index&& index) noexcept : member_(member) {
    at_[0] = static_cast<uint64_t>(index(0));
    for (int i = 1; i < member->doacross_loops; ++i) at_[i] = static_cast<uint64_t>(index(i));
  }

  Iteration iteration() const noexcept {
    uint64_t number = at_[0];
    for (int i = 1; i < member_->doacross_loops; ++i) number = number * member_->doacross_counts[i] + at_[i];
    return {at_[0], number};
  }

  void post(const void* caller) const noexcept {
    if (ompt::on()) tell(ompt_dependence_type_source, caller);
    post_iteration(member_, iteration());
  }

  void wait(const void* caller) const noexcept {
    wait_for_iteration(member_, iteration());
    if (ompt::on()) tell(ompt_dependence_type_sink, caller);
  }

 private:
  void tell(ompt_dependence_type_t kind, const void* caller) const noexcept {
    const ompt::Entry entry(caller);
    ompt::doacross(member_, kind, at_, member_->doacross_loops);
  }

  Member* member_;
  uint64_t at_[Member::kDoacrossLoops];  // as many as the nest has loops
};

}  // namespace

WEFT_ABI bool weft_abi_GOMP_loop_ordered_start(long first, long end, long incr, long how, long chunk, long* begin_at,
                                               long* end_at, Words* reductions, void** memory) {
  const ompt::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return begin_at == nullptr || start(said.kind, said.runtime, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ordered_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_ordered_start(bool up, Ull first, Ull end, Ull incr, long how, Ull chunk,
                                                   Ull* begin_at, Ull* end_at, Words* reductions, void** memory) {
  const ompt::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return begin_at == nullptr || start_ull(said.kind, said.runtime, up, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_ordered_start);

WEFT_ABI bool weft_abi_GOMP_loop_doacross_start(unsigned loops, long* counts, long how, long chunk, long* begin_at,
                                                long* end_at, Words* reductions, void** memory) {
  const ompt::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return start_doacross(said.kind, said.runtime, loops, counts, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_doacross_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_doacross_start(unsigned loops, Ull* counts, long how, Ull chunk, Ull* begin_at,
                                                    Ull* end_at, Words* reductions, void** memory) {
  const ompt::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return start_doacross(said.kind, said.runtime, loops, counts, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_doacross_start);

WEFT_ABI void weft_abi_GOMP_ordered_start() {
  const ompt::Entry entry(WEFT_CALLER);
  begin_ordered(self());
}
WEFT_ABI_EXPORT(GOMP_ordered_start);

WEFT_ABI void weft_abi_GOMP_ordered_end() {
  const ompt::Entry entry(WEFT_CALLER);
  end_ordered(self());
}
WEFT_ABI_EXPORT(GOMP_ordered_end);

#define WEFT_ORDERED_LOOP(name, kind)                                                                                  \
  WEFT_ABI bool weft_abi_GOMP_loop_ordered_##name##_start(long first, long end, long incr, long chunk, long* begin_at, \
                                                          long* end_at) {                                              \
    return start(kind, false, first, end, incr, chunk, begin_at, end_at);                                              \
  }                                                                                                                    \
  WEFT_ABI_EXPORT(GOMP_loop_ordered_##name##_start);                                                                   \
  WEFT_ABI bool weft_abi_GOMP_loop_ull_ordered_##name##_start(bool up, Ull first, Ull end, Ull incr, Ull chunk,        \
                                                              Ull* begin_at, Ull* end_at) {                            \
    return start_ull(kind, false, up, first, end, incr, chunk, begin_at, end_at);                                      \
  }                                                                                                                    \
  WEFT_ABI_EXPORT(GOMP_loop_ull_ordered_##name##_start)
#define WEFT_ORDERED_NEXT(name)                                                            \
  WEFT_ABI bool weft_abi_GOMP_loop_ordered_##name##_next(long* begin_at, long* end_at) {   \
    return next_unit(self(), begin_at, end_at);                                            \
  }                                                                                        \
  WEFT_ABI_EXPORT(GOMP_loop_ordered_##name##_next);                                        \
  WEFT_ABI bool weft_abi_GOMP_loop_ull_ordered_##name##_next(Ull* begin_at, Ull* end_at) { \
    return next_unit(self(), begin_at, end_at);                                            \
  }                                                                                        \
  WEFT_ABI_EXPORT(GOMP_loop_ull_ordered_##name##_next)
#define WEFT_DOACROSS_LOOP(name, kind)                                                                                \
  WEFT_ABI bool weft_abi_GOMP_loop_doacross_##name##_start(unsigned loops, long* counts, long chunk, long* begin_at,  \
                                                           long* end_at) {                                            \
    return start_doacross(kind, false, loops, counts, chunk, begin_at, end_at);                                       \
  }                                                                                                                   \
  WEFT_ABI_EXPORT(GOMP_loop_doacross_##name##_start);                                                                 \
  WEFT_ABI bool weft_abi_GOMP_loop_ull_doacross_##name##_start(unsigned loops, Ull* counts, Ull chunk, Ull* begin_at, \
                                                               Ull* end_at) {                                         \
    return start_doacross(kind, false, loops, counts, chunk, begin_at, end_at);                                       \
  }                                                                                                                   \
  WEFT_ABI_EXPORT(GOMP_loop_ull_doacross_##name##_start)

WEFT_ORDERED_LOOP(static, Kind::static_);
WEFT_ORDERED_LOOP(dynamic, Kind::dynamic);
WEFT_ORDERED_LOOP(guided, Kind::guided);
WEFT_ORDERED_NEXT(static);
WEFT_ORDERED_NEXT(dynamic);
WEFT_ORDERED_NEXT(guided);
WEFT_ORDERED_NEXT(runtime);
WEFT_DOACROSS_LOOP(static, Kind::static_);
WEFT_DOACROSS_LOOP(dynamic, Kind::dynamic);
WEFT_DOACROSS_LOOP(guided, Kind::guided);

WEFT_ABI bool weft_abi_GOMP_loop_ordered_runtime_start(long first, long end, long incr, long* begin_at, long* end_at) {
  return start(Kind::dynamic, true, first, end, incr, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ordered_runtime_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_ordered_runtime_start(bool up, Ull first, Ull end, Ull incr, Ull* begin_at,
                                                           Ull* end_at) {
  return start_ull(Kind::dynamic, true, up, first, end, incr, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_ordered_runtime_start);

WEFT_ABI bool weft_abi_GOMP_loop_doacross_runtime_start(unsigned loops, long* counts, long* begin_at, long* end_at) {
  return start_doacross<long>(Kind::dynamic, true, loops, counts, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_doacross_runtime_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_doacross_runtime_start(unsigned loops, Ull* counts, Ull* begin_at, Ull* end_at) {
  return start_doacross<Ull>(Kind::dynamic, true, loops, counts, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_doacross_runtime_start);

WEFT_ABI void weft_abi_GOMP_doacross_post(long* at) {
  Position(self(), [at](int i) { return at[i]; }).post(WEFT_CALLER);
}
WEFT_ABI_EXPORT(GOMP_doacross_post);

WEFT_ABI void weft_abi_GOMP_doacross_ull_post(Ull* at) {
  Position(self(), [at](int i) { return at[i]; }).post(WEFT_CALLER);
}
WEFT_ABI_EXPORT(GOMP_doacross_ull_post);

WEFT_ABI void weft_abi_GOMP_doacross_wait(long first, ...) {
  va_list rest;
  va_start(rest, first);
  const Position awaited(self(), [&](int i) { return i == 0 ? first : va_arg(rest, long); });
  va_end(rest);
  awaited.wait(WEFT_CALLER);
}
WEFT_ABI_EXPORT(GOMP_doacross_wait);

WEFT_ABI void weft_abi_GOMP_doacross_ull_wait(Ull first, ...) {
  va_list rest;
  va_start(rest, first);
  const Position awaited(self(), [&](int i) { return i == 0 ? first : va_arg(rest, Ull); });
  va_end(rest);
  awaited.wait(WEFT_CALLER);
}
WEFT_ABI_EXPORT(GOMP_doacross_ull_wait);
