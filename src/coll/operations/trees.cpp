// SPDX-License-Identifier: Apache-2.0
#include "coll/operations/trees.h"

#include <cstring>

#include "coll/group/group.h"

namespace weft::coll {

namespace {

bool has_children(const Hierarchy& tree, int rank, int root) noexcept {
  bool any = false;
  tree.each_child(rank, root, [&](int) { any = true; });
  return any;
}

// Combines from the leaves to rank 0, which gets the result. `result`: where each rank has what its part has combined.
void combine_upwards(Group& group, const void* in, void* result, size_t count, const Reduction& reduction) noexcept {
  const Hierarchy& tree = *group.tree_of_numbers();
  const size_t bytes = count * reduction.element;
  const uint64_t step = group.next_step();
  const int self = group.rank();
  bool alone = true;
  // Later ranks are combined first, since the first operand has to be the earlier one.
  tree.each_child(self, 0, [&](int child) {
    const unsigned char* theirs = group.await_line(child, step);
    if (alone) {
      std::memcpy(result, theirs, bytes);
    } else {
      reduction.combine(reduction.context, theirs, result, count);
    }
    alone = false;
  });
  if (alone) {
    std::memcpy(result, in, bytes);
  } else {
    reduction.combine(reduction.context, in, result, count);
  }
  if (self != 0) {
    std::memcpy(group.own_line(step), result, bytes);
    group.publish(step);
  }
  group.done(step);
}

}  // namespace

void barrier_by_tree(Group& group) noexcept {
  const Hierarchy& tree = *group.tree_of_locations();
  const int self = group.rank(), root = 0;
  const uint64_t arrived = group.next_step();
  const uint64_t released = group.next_step();
  tree.each_child(self, root, [&](int child) { group.await_line(child, arrived); });
  if (const int parent = tree.parent(self, root); parent >= 0) {
    group.own_line(arrived);
    group.publish(arrived);
    group.await_line(parent, released);
  }
  if (has_children(tree, self, root)) {
    group.own_line(released);
    group.publish(released);
  }
  group.all_are_done(arrived - 1);
  group.done(released);
}

void bcast_by_tree(Group& group, void* data, size_t bytes, int root) noexcept {
  const Hierarchy& tree = *group.tree_of_locations();
  const int self = group.rank();
  const uint64_t step = group.next_step();
  if (self != root) std::memcpy(data, group.await_line(tree.parent(self, root), step), bytes);
  if (has_children(tree, self, root)) {
    std::memcpy(group.own_line(step), data, bytes);
    group.publish(step);
  }
  group.done(step);
}

void reduce_by_tree(Group& group, const void* in, void* out, size_t count, const Reduction& reduction,
                    int root) noexcept {
  const size_t bytes = count * reduction.element;
  alignas(kCacheLine) unsigned char result[Line::kData];
  combine_upwards(group, in, result, count, reduction);
  const uint64_t step = group.next_step();
  if (group.rank() == root) {
    std::memcpy(out, root == 0 ? result : group.await_line(0, step), bytes);
  } else if (group.rank() == 0) {
    std::memcpy(group.own_line(step), result, bytes);
    group.publish(step);
  }
  group.done(step);
}

void allreduce_by_tree(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  alignas(kCacheLine) unsigned char result[Line::kData];
  combine_upwards(group, in, result, count, reduction);
  std::memcpy(out, result, count * reduction.element);
  bcast(group, out, count * reduction.element, 0);
}

}  // namespace weft::coll
