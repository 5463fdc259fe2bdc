// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "coll/coll.h"
#include "coll/group/group.h"
#include "coll/operations/fold.h"
#include "coll/operations/reduce_by_single_copy.h"
#include "coll/operations/trees.h"
#include "coll/ways/copy.h"
#include "coll/ways/ways.h"

namespace weft::coll {

namespace {

void by_line(Group& group, const void* in, void* out, size_t count, const Reduction& reduction, int root) noexcept {
  const uint64_t step = group.next_step();
  std::memcpy(group.own_line(step), in, count * reduction.element);
  if (group.rank() == root) {
    fold(reduction, out, count, group.size(),
         [&](int rank) { return rank == root ? group.line(rank, step) : group.await_line(rank, step); });
  } else {
    group.publish(step);
  }
  group.done(step);
}

// The root combines what all have copied into their queues.
void by_queue(Group& group, const void* in, void* out, size_t count, const Reduction& reduction, int root) noexcept {
  const size_t element = reduction.element;
  const size_t most = group.fragment_bytes() / element;
  for (size_t at = 0; at < count; at += most) {
    const size_t part = piece(at, count, most);
    const uint64_t step = group.next_step();
    const char* own = bytes_of(in, at * element);
    if (group.rank() != root) {
      copy_in(group.own_buffer(step), own, part * element);
      group.publish(step);
    } else {
      char* result = bytes_of(out, at * element);
      if (result == own && root != group.size() - 1) {
        char* kept = group.scratch(most * element);
        std::memcpy(kept, own, part * element);
        own = kept;
      }
      fold(reduction, result, part, group.size(),
           [&](int rank) { return rank == root ? own : group.await_buffer(rank, step); });
    }
    group.done(step);
  }
}

void by_gathering(Group& group, const void* in, void* out, size_t count, const Reduction& reduction,
                  int root) noexcept {
  const size_t element = reduction.element;
  for (size_t i = 0; i < count; ++i) {
    char* all = group.scratch(element * static_cast<size_t>(group.size()));
    allgather(group, bytes_of(in, i * element), all, element);
    if (group.rank() != root) continue;
    fold(reduction, bytes_of(out, i * element), 1, group.size(),
         [&](int rank) { return all + static_cast<size_t>(rank) * element; });
  }
  group.end_scratch();
}

}  // namespace

void reduce(Group& group, const void* in, void* out, size_t count, const Reduction& reduction, int root) noexcept {
  const size_t bytes = count * reduction.element;
  if (bytes == 0) return;
  if (fits_line(bytes)) {
    if (group.tree_of_numbers() != nullptr) return reduce_by_tree(group, in, out, count, reduction, root);
    return by_line(group, in, out, count, reduction, root);
  }
  if (takes_single_copy(group, Operation::reduce, bytes)) {
    return reduce_by_single_copy(group, in, out, count, reduction, root);
  }
  if (reduction.element > group.fragment_bytes()) return by_gathering(group, in, out, count, reduction, root);
  by_queue(group, in, out, count, reduction, root);
}

}  // namespace weft::coll
