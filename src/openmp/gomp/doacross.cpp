// SPDX-License-Identifier: Apache-2.0
// GOMP: doacross loops. The program gives the number of iterations of each loop of the nest, the distributed one first,
// which runs from 0.
#include "openmp/loop/doacross.h"

#include <cstdarg>

#include "openmp/gomp/loop.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;
using Kind = base::LoopSchedule::Kind;
using Ull = unsigned long long;

namespace {

template <class Value>
[[gnu::always_inline]] inline bool start_doacross(Kind kind, bool runtime, unsigned loops, const Value* counts,
                                                  Value chunk, Value* begin_at, Value* end_at) {
  const tool::Entry entry(WEFT_CALLER);
  Member* member = self();
  DoacrossLoops& nest = doacross_loops(member, static_cast<int>(loops));
  for (unsigned i = 0; i < loops; ++i) nest.counts[i] = static_cast<uint64_t>(counts[i]);
  begin_doacross(member);
  auto unit = static_cast<uint64_t>(chunk);
  const base::LoopSchedule how = runtime ? runtime_schedule(member, &unit) : schedule(kind);
  begin(member, how, unit, 0, 1, nest.counts[0]);
  return next(member, begin_at, end_at);
}

// Where an iteration is in each loop of the nest, counted from 0: `index(i)` in loop i, asked in turn.
class Position {
 public:
  template <class Index>
  Position(Member* member, Index&& index) noexcept : member_(member) {
    at_[0] = static_cast<uint64_t>(index(0));
    for (int i = 1; i < member->doacross_depth; ++i) at_[i] = static_cast<uint64_t>(index(i));
  }

  Iteration iteration() const noexcept {
    uint64_t number = at_[0];
    for (int i = 1; i < member_->doacross_depth; ++i) number = number * member_->doacross_loops->counts[i] + at_[i];
    return {at_[0], number};
  }

  void post(const void* caller) const noexcept {
    if (tool::is_on()) tell(ompt_dependence_type_source, caller);
    post_iteration(member_, iteration());
  }

  void wait(const void* caller) const noexcept {
    wait_for_iteration(member_, iteration());
    if (tool::is_on()) tell(ompt_dependence_type_sink, caller);
  }

 private:
  void tell(ompt_dependence_type_t kind, const void* caller) const noexcept {
    const tool::Entry entry(caller);
    tool::doacross(member_, kind, at_, member_->doacross_depth);
  }

  Member* member_;
  uint64_t at_[DoacrossLoops::kMost];  // as many as the nest has loops
};

}  // namespace

WEFT_ABI(bool, GOMP_loop_doacross_start)(unsigned loops, long* counts, long how, long chunk, long* begin_at,
                                         long* end_at, Words* reductions, void** memory) {
  const tool::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return start_doacross(said.kind, said.runtime, loops, counts, chunk, begin_at, end_at);
}

WEFT_ABI(bool, GOMP_loop_ull_doacross_start)(unsigned loops, Ull* counts, long how, Ull chunk, Ull* begin_at,
                                             Ull* end_at, Words* reductions, void** memory) {
  const tool::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return start_doacross(said.kind, said.runtime, loops, counts, chunk, begin_at, end_at);
}

#define WEFT_DOACROSS_LOOP(name, kind)                                                                         \
  WEFT_ABI(bool, GOMP_loop_doacross_##name##_start)(unsigned loops, long* counts, long chunk, long* begin_at,  \
                                                    long* end_at) {                                            \
    return start_doacross(kind, false, loops, counts, chunk, begin_at, end_at);                                \
  }                                                                                                            \
  WEFT_ABI(bool, GOMP_loop_ull_doacross_##name##_start)(unsigned loops, Ull* counts, Ull chunk, Ull* begin_at, \
                                                        Ull* end_at) {                                         \
    return start_doacross(kind, false, loops, counts, chunk, begin_at, end_at);                                \
  }

WEFT_DOACROSS_LOOP(static, Kind::static_);
WEFT_DOACROSS_LOOP(dynamic, Kind::dynamic);
WEFT_DOACROSS_LOOP(guided, Kind::guided);

WEFT_ABI(bool, GOMP_loop_doacross_runtime_start)(unsigned loops, long* counts, long* begin_at, long* end_at) {
  return start_doacross<long>(Kind::dynamic, true, loops, counts, 0, begin_at, end_at);
}

WEFT_ABI(bool, GOMP_loop_ull_doacross_runtime_start)(unsigned loops, Ull* counts, Ull* begin_at, Ull* end_at) {
  return start_doacross<Ull>(Kind::dynamic, true, loops, counts, 0, begin_at, end_at);
}

WEFT_ABI(void, GOMP_doacross_post)(long* at) {
  Position(self(), [at](int i) { return at[i]; }).post(WEFT_CALLER);
}

WEFT_ABI(void, GOMP_doacross_ull_post)(Ull* at) {
  Position(self(), [at](int i) { return at[i]; }).post(WEFT_CALLER);
}

WEFT_ABI(void, GOMP_doacross_wait)(long first, ...) {
  va_list rest;
  va_start(rest, first);
  const Position awaited(self(), [&](int i) { return i == 0 ? first : va_arg(rest, long); });
  va_end(rest);
  awaited.wait(WEFT_CALLER);
}

WEFT_ABI(void, GOMP_doacross_ull_wait)(Ull first, ...) {
  va_list rest;
  va_start(rest, first);
  const Position awaited(self(), [&](int i) { return i == 0 ? first : va_arg(rest, Ull); });
  va_end(rest);
  awaited.wait(WEFT_CALLER);
}
