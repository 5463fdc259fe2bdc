// SPDX-License-Identifier: Apache-2.0
// KMP: loops that are shared among the teams of a league first, then among the members of each team, by one call:
// distribute parallel for as icc and ifort, and some versions of flang, emit it.
#include "openmp/kmp/loop.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

template <class Value>
void dist_for_static_init(int32_t schedule, int32_t* last, Value* lower, Value* upper, Value* team_upper,
                          std::make_signed_t<Value>* stride, std::make_signed_t<Value> incr,
                          std::make_signed_t<Value> chunk) {
  const Member* member = self();
  int32_t last_team = 0;
  int32_t last_member = 0;
  take_static_part(sharers_of_league(member->team), kStatic, &last_team, lower, upper, stride, incr, {});
  *team_upper = *upper;
  take_static_part(sharers_of_team(member), schedule & ~(kMonotonic | kNonmonotonic), &last_member, lower, upper,
                   stride, incr, chunk);
  if (last != nullptr) *last = last_team & last_member;
}

// The team's first chunk, and the stride to the next.
template <class Value>
void team_static_init(int32_t* last, Value* lower, Value* upper, std::make_signed_t<Value>* stride,
                      std::make_signed_t<Value> incr, std::make_signed_t<Value> chunk) {
  const Value end = *upper;
  take_static_part(sharers_of_league(self()->team), kStaticChunked, last, lower, upper, stride, incr, chunk);
  // Behind the end, or wrapped around.
  const bool beyond = incr > 0 ? *upper > end || *upper < *lower : *upper < end || *upper > *lower;
  if (beyond) *upper = end;
}

// The team's part is handed out among its members, chunk by chunk.
template <class Value>
void dist_dispatch_init(int32_t schedule, int32_t* last, Value lower, Value upper, std::make_signed_t<Value> incr,
                        std::make_signed_t<Value> chunk) {
  std::make_signed_t<Value> stride = 0;
  take_static_part(sharers_of_league(self()->team), kStatic, last, &lower, &upper, &stride, incr, {});
  dispatch_init(schedule, lower, upper, incr, chunk);
}

}  // namespace

#define WEFT_LEAGUE_LOOP(suffix, Value, Signed)                                                                        \
  WEFT_ABI(void, __kmpc_dist_for_static_init_##suffix)(Ident*, int32_t, int32_t schedule, int32_t* last, Value* lower, \
                                                       Value* upper, Value* team_upper, Signed* stride, Signed incr,   \
                                                       Signed chunk) {                                                 \
    dist_for_static_init(schedule, last, lower, upper, team_upper, stride, incr, chunk);                               \
  }                                                                                                                    \
  WEFT_ABI(void, __kmpc_team_static_init_##suffix)(Ident*, int32_t, int32_t* last, Value* lower, Value* upper,         \
                                                   Signed* stride, Signed incr, Signed chunk) {                        \
    team_static_init(last, lower, upper, stride, incr, chunk);                                                         \
  }                                                                                                                    \
  WEFT_ABI(void, __kmpc_dist_dispatch_init_##suffix)(Ident*, int32_t, int32_t schedule, int32_t* last, Value lower,    \
                                                     Value upper, Signed incr, Signed chunk) {                         \
    dist_dispatch_init(schedule, last, lower, upper, incr, chunk);                                                     \
  }

WEFT_LEAGUE_LOOP(4, int32_t, int32_t);
WEFT_LEAGUE_LOOP(4u, uint32_t, int32_t);
WEFT_LEAGUE_LOOP(8, int64_t, int64_t);
WEFT_LEAGUE_LOOP(8u, uint64_t, int64_t);
