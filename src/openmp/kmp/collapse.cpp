// SPDX-License-Identifier: Apache-2.0
// KMP: nests of loops that are collapsed by calls.
#include <cstddef>

#include "base/message.h"
#include "openmp/kmp/kmp.h"
#include "openmp/loop/even_share.h"
#include "openmp/loop/loop_nest.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

static_assert(offsetof(NestedLoop, lower) == 16 && offsetof(NestedLoop, step) == 48 && sizeof(NestedLoop) == 64);

namespace {

void canonicalize(NestedLoop* loops, int32_t depth) noexcept {
  if (depth > LoopNest::kDeepest) {
    base::fatal("a nest of %d collapsed loops; at most %d are supported", depth, LoopNest::kDeepest);
  }
  for (int32_t i = 0; i < depth; ++i) loops[i].canonicalize();
}

}  // namespace

// How many iterations a nest has where no bound depends on another loop; each loop learns its own number.
WEFT_ABI(uint64_t, __kmpc_process_loop_nest_rectang)(Ident*, int32_t, NestedLoop* loops, int32_t depth) {
  canonicalize(loops, depth);
  const uint64_t none[LoopNest::kDeepest] = {};
  uint64_t all = 1;
  for (int32_t i = 0; i < depth; ++i) {
    loops[i].count = loops[i].trips(none);
    all *= loops[i].count;
  }
  return all;
}

WEFT_ABI(void, __kmpc_calc_original_ivs_rectang)(Ident*, uint64_t index, const NestedLoop* loops, uint64_t* variables,
                                                 int32_t depth) {
  for (int32_t i = depth - 1; i >= 0; --i) {
    variables[i] = loops[i].value(loops[i].lower, index % loops[i].count);
    index /= loops[i].count;
  }
}

// The member's part of any nest: one piece, from a first iteration to a last one. False when it has none.
WEFT_ABI(int32_t, __kmpc_for_collapsed_init)(Ident*, int32_t, NestedLoop* loops, NestedLoop* part, int32_t depth,
                                             int32_t* last) {
  canonicalize(loops, depth);
  const LoopNest nest(loops, depth);
  const uint64_t count = nest.count();
  const EvenShare share = even_share(count, sharers_of_team(self()));
  if (last != nullptr) *last = !share.empty() && share.end == count ? 1 : 0;
  if (share.empty()) return 0;
  uint64_t variables[LoopNest::kDeepest] = {};
  const auto write = [&](uint64_t index, uint64_t NestedLoop::* bound, uint64_t NestedLoop::* factor) {
    nest.find(index, variables);
    for (int32_t i = 0; i < depth; ++i) {
      part[i].*bound = variables[i];
      part[i].*factor = 0;
    }
  };
  for (int32_t i = 0; i < depth; ++i) part[i] = loops[i];
  write(share.begin, &NestedLoop::lower, &NestedLoop::lower_by);
  write(share.end - 1, &NestedLoop::upper, &NestedLoop::upper_by);
  return 1;
}
