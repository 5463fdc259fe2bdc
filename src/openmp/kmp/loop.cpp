// SPDX-License-Identifier: Apache-2.0
// KMP: worksharing loops.
#include "openmp/kmp/loop.h"

#include <algorithm>

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// Deals the member's part out; the iterations of the whole loop.
template <class Value>
uint64_t deal(const Member* member, int32_t schedule, int32_t* last, Value* lower, Value* upper,
              std::make_signed_t<Value>* stride, std::make_signed_t<Value> incr, std::make_signed_t<Value> chunk) {
  schedule &= ~(kMonotonic | kNonmonotonic);
  // Among the teams of the league, or among the members of the team.
  const bool distribute = schedule == kDistributeStatic || schedule == kDistributeStaticChunked;
  if (distribute) schedule = schedule == kDistributeStatic ? kStatic : kStaticChunked;
  return take_static_part(distribute ? sharers_of_league(member->team) : sharers_of_team(member), schedule, last, lower,
                          upper, stride, incr, chunk);
}

ompt_work_t work_of(const Ident* location, int32_t schedule) noexcept {
  if ((location->flags & kWorkSections) != 0) return ompt_work_sections;
  schedule &= ~(kMonotonic | kNonmonotonic);
  const bool distribute = schedule == kDistributeStatic || schedule == kDistributeStaticChunked;
  return distribute || (location->flags & kWorkDistribute) != 0 ? ompt_work_distribute : ompt_work_loop_static;
}

template <class Value>
[[gnu::always_inline]] inline void static_init(const Ident* location, int32_t schedule, int32_t* last, Value* lower,
                                               Value* upper, std::make_signed_t<Value>* stride,
                                               std::make_signed_t<Value> incr, std::make_signed_t<Value> chunk) {
  tool::enter([=](Member* member, auto listener, const void*) {
    const Value end = *upper;
    const uint64_t count = deal(member, schedule, last, lower, upper, stride, incr, chunk);
    if (!tool::is_on(listener)) return;
    tool::begin_work(member, work_of(location, schedule), count);
    const Value dealt = incr > 0 ? std::min(*upper, end) : std::max(*upper, end);
    if (const uint64_t mine = count > 0 ? count_of(*lower, dealt, incr) : 0; mine > 0) {
      tool::dispatch_static(member, static_cast<uint64_t>(*lower), mine);
    }
  });
}

// Called at the end of each iteration of an ordered loop: the turn goes on by iterations.
void end_iteration() {
  Member* member = self();
  const uint64_t next = member->loop.iteration + 1;
  end_unit(member);
  member->loop.iteration = next;
  begin_unit(member, next, next + 1);
}

template <class Value>
[[gnu::always_inline]] inline int32_t dispatch_next(int32_t* last, Value* lower, Value* upper,
                                                    std::make_signed_t<Value>* stride) {
  Member* member = self();
  Chunk chunk;
  if (!next_chunk(member, &chunk)) {
    // The interface has no call at the end of the loop: this is it. `last` keeps what the last chunk said.
    if (member->loop.reported()) {
      end_loop(member, WEFT_CALLER);
    } else {
      exit_loop(member);
    }
    return 0;
  }
  const LoopCursor& loop = member->loop;
  member->loop.iteration = chunk.begin;
  begin_unit(member, chunk.begin, chunk.begin + 1);
  *lower = static_cast<Value>(loop.base + chunk.begin * loop.step);
  *upper = static_cast<Value>(loop.base + (chunk.end - 1) * loop.step);
  *stride = static_cast<std::make_signed_t<Value>>(loop.step);
  if (last != nullptr) *last = chunk.last ? 1 : 0;
  return 1;
}

}  // namespace

#define WEFT_KMP_LOOP(suffix, Value, Signed)                                                                   \
  WEFT_ABI(void, __kmpc_for_static_init_##suffix)(Ident * location, int32_t, int32_t schedule, int32_t* last,  \
                                                  Value* lower, Value* upper, Signed* stride, Signed incr,     \
                                                  Signed chunk) {                                              \
    static_init(location, schedule, last, lower, upper, stride, incr, chunk);                                  \
  }                                                                                                            \
  WEFT_ABI(void, __kmpc_dispatch_init_##suffix)(Ident*, int32_t, int32_t schedule, Value lower, Value upper,   \
                                                Signed incr, Signed chunk) {                                   \
    dispatch_init(schedule, lower, upper, incr, chunk);                                                        \
  }                                                                                                            \
  WEFT_ABI(int32_t, __kmpc_dispatch_next_##suffix)(Ident*, int32_t, int32_t* last, Value* lower, Value* upper, \
                                                   Signed* stride) {                                           \
    return dispatch_next(last, lower, upper, stride);                                                          \
  }                                                                                                            \
  WEFT_ABI(void, __kmpc_dispatch_fini_##suffix)(Ident*, int32_t) { end_iteration(); }

WEFT_KMP_LOOP(4, int32_t, int32_t);
WEFT_KMP_LOOP(4u, uint32_t, int32_t);
WEFT_KMP_LOOP(8, int64_t, int64_t);
WEFT_KMP_LOOP(8u, uint64_t, int64_t);

WEFT_ABI(void, __kmpc_for_static_fini)(Ident*, int32_t) {
  tool::enter([](Member* member, auto listener, const void*) { tool::end_work(listener, member, nullptr); });
}

WEFT_ABI(void, __kmpc_dispatch_deinit)(Ident*, int32_t) {}
