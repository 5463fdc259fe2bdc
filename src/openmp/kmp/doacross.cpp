// SPDX-License-Identifier: Apache-2.0
// KMP: doacross loops. The program names an iteration by the variables of the loops.
#include "openmp/loop/doacross.h"

#include "openmp/kmp/kmp.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// Bounds, inclusive, and step of one loop of the nest.
struct Dimension {
  int64_t lower;
  int64_t upper;
  int64_t stride;
};

// Bounds of unsigned loops come as the same bits.
uint64_t distance(int64_t from, int64_t to, int64_t stride) noexcept {
  const auto difference = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  if (stride == 1) return difference;  // most loops: a division takes longer than all the rest of a wait that is over
  return stride > 0 ? difference / static_cast<uint64_t>(stride)
                    : (uint64_t{0} - difference) / (uint64_t{0} - static_cast<uint64_t>(stride));
}

bool is_empty(const Dimension& loop) noexcept {
  return loop.stride > 0 ? loop.upper < loop.lower : loop.upper > loop.lower;
}

// The iteration whose loop variables are `at`; false when they lie outside of the loops.
bool find_iteration(const Member* member, const int64_t* at, Iteration* iteration) noexcept {
  *iteration = {};
  const DoacrossLoops* nest = member->doacross_loops.get();
  for (int i = 0; i < member->doacross_depth; ++i) {
    const int64_t from = nest->from[i];
    const int64_t step = nest->step[i];
    if (step > 0 ? at[i] < from : at[i] > from) return false;
    const uint64_t index = distance(from, at[i], step);
    if (index >= nest->counts[i]) return false;
    if (i == 0) iteration->row = index;
    iteration->number = iteration->number * nest->counts[i] + index;
  }
  return true;
}

void tell(Member* member, ompt_dependence_type_t kind, const int64_t* at, const void* caller) noexcept {
  const tool::Entry entry(caller);
  tool::doacross(member, kind, reinterpret_cast<const uint64_t*>(at), member->doacross_depth);
}

}  // namespace

WEFT_ABI(void, __kmpc_doacross_init)(Ident*, int32_t, int32_t loops, const Dimension* dimensions) {
  Member* member = self();
  DoacrossLoops& nest = doacross_loops(member, loops);
  for (int i = 0; i < loops; ++i) {
    const Dimension& loop = dimensions[i];
    nest.from[i] = loop.lower;
    nest.step[i] = loop.stride;
    nest.counts[i] = is_empty(loop) ? 0 : distance(loop.lower, loop.upper, loop.stride) + 1;
  }
  begin_doacross(member);
}

WEFT_ABI(void, __kmpc_doacross_post)(Ident*, int32_t, const int64_t* at) {
  Member* member = self();
  Iteration iteration;
  if (!find_iteration(member, at, &iteration)) return;
  if (tool::is_on()) tell(member, ompt_dependence_type_source, at, WEFT_CALLER);
  post_iteration(member, iteration);
}

// What lies outside of the loops needs no waiting for.
WEFT_ABI(void, __kmpc_doacross_wait)(Ident*, int32_t, const int64_t* at) {
  Member* member = self();
  Iteration iteration;
  if (!find_iteration(member, at, &iteration)) return;
  wait_for_iteration(member, iteration);
  if (tool::is_on()) tell(member, ompt_dependence_type_sink, at, WEFT_CALLER);
}

WEFT_ABI(void, __kmpc_doacross_fini)(Ident*, int32_t) { end_doacross(self()); }
