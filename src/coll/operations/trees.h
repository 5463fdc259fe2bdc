// SPDX-License-Identifier: Apache-2.0
// Short operations of many ranks, by the group's trees. The data fits a cache line.
#pragma once

#include <cstddef>

#include "coll/coll.h"

namespace weft::coll {

void barrier_by_tree(Group& group) noexcept;
void bcast_by_tree(Group& group, void* data, size_t bytes, int root) noexcept;
// This one goes by the tree of numbers, the others by the tree of locations. Parts of ranks that follow each other are
// combined first: (x0 op (... x7)) op ((x8 op ...) op ...).
void reduce_by_tree(Group& group, const void* in, void* out, size_t count, const Reduction& reduction,
                    int root) noexcept;
void allreduce_by_tree(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept;

}  // namespace weft::coll
