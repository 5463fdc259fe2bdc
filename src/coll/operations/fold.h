// SPDX-License-Identifier: Apache-2.0
// The order in which reductions combine.
#pragma once

#include <cstddef>
#include <cstring>

#include "coll/coll.h"

namespace weft::coll {

// out = x0 op (x1 op (x2 ...)), where the `count` elements of rank i lie at source(i). Only the last source may lie in
// `out`.
template <class Source>
void fold(const Reduction& reduction, void* out, size_t count, int ranks, Source source) noexcept {
  if (count == 0) return;
  const void* last = source(ranks - 1);
  if (last != out) std::memcpy(out, last, count * reduction.element);
  for (int rank = ranks - 2; rank >= 0; --rank) reduction.combine(reduction.context, source(rank), out, count);
}

}  // namespace weft::coll
