// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "coll/coll.h"
#include "coll/group/group.h"
#include "coll/operations/trees.h"
#include "coll/ways/copy.h"
#include "coll/ways/single_copy.h"
#include "coll/ways/ways.h"

namespace weft::coll {

namespace {

void by_line(Group& group, void* data, size_t bytes, int root) noexcept {
  const uint64_t step = group.next_step();
  if (group.rank() == root) {
    std::memcpy(group.own_line(step), data, bytes);
    group.publish(step);
  } else {
    std::memcpy(data, group.await_line(root, step), bytes);
  }
  group.done(step);
}

// Fragments go from the root's queue to all. Where ranks are on several NUMA nodes, one rank of each puts them into its
// own queue for its neighbours, so that each byte passes between nodes once.
void by_queue(Group& group, void* data, size_t bytes, int root) noexcept {
  const size_t most = group.fragment_bytes();
  const int self = group.rank();
  const int leader =
      group.tree_of_locations() != nullptr ? group.tree_of_locations()->leader_of_node(self, root) : root;
  const int source = leader == self ? root : leader;
  for (size_t at = 0; at < bytes; at += most) {
    const size_t part = piece(at, bytes, most);
    const uint64_t step = group.next_step();
    char* ours = bytes_of(data, at);
    if (self != root) std::memcpy(ours, group.await_buffer(source, step), part);
    if (self == leader || self == root) {
      copy_in(group.own_buffer(step), ours, part);
      group.publish(step);
    }
    group.done(step);
  }
}

// All ranks copy at the same time: each of the others reads the same part of the message, and the root writes the rest
// of it to all, so that the root has as much to do as one of them.
void by_single_copy(Group& group, void* data, size_t bytes, int root) noexcept {
  const auto ranks = static_cast<size_t>(group.size());
  const size_t rest = bytes / ranks;
  const size_t read = bytes - rest;
  const uint64_t step = group.next_step();
  const uint64_t written = group.next_step();
  offer(group, step, data);
  if (group.rank() == root) {
    for (int i = 1; i < group.size(); ++i) {
      const int rank = (root + i) % group.size();
      const uint64_t theirs = await_offer(group, rank, step);
      write_to(group, rank, theirs + read, bytes_of(data, read), rest);
    }
    group.own_line(written);
    group.publish(written);
    group.await_all_done(step);
  } else {
    read_from(group, root, data, await_offer(group, root, step), read);
    group.done(step);
    group.await_line(root, written);
  }
  group.done(written);
}

}  // namespace

void bcast(Group& group, void* data, size_t bytes, int root) noexcept {
  if (bytes == 0) return;
  if (fits_line(bytes)) {
    return group.tree_of_locations() != nullptr ? bcast_by_tree(group, data, bytes, root)
                                                : by_line(group, data, bytes, root);
  }
  // Where ranks pass data on within a NUMA node, the data must be in a queue.
  const bool passed_on = group.tree_of_locations() != nullptr && group.facts().nodes > 1;
  if (!passed_on && takes_single_copy(group, Operation::bcast, bytes)) return by_single_copy(group, data, bytes, root);
  by_queue(group, data, bytes, root);
}

}  // namespace weft::coll
