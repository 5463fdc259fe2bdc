// SPDX-License-Identifier: Apache-2.0
#include "coll/coll.h"
#include "coll/group/group.h"
#include "coll/operations/trees.h"

namespace weft::coll {

void barrier(Group& group) noexcept {
  if (group.tree_of_locations() != nullptr) return barrier_by_tree(group);
  const uint64_t step = group.next_step();
  group.own_line(step);
  group.publish(step);
  for (int rank = 0; rank < group.size(); ++rank) {
    if (rank != group.rank()) group.await_line(rank, step);
  }
  group.all_are_done(step - 1);
  group.done(step);
}

}  // namespace weft::coll
