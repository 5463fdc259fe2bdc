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

// Up to so many bytes it is faster to combine everything on all ranks than to make a second step.
constexpr size_t kWholeFragments = 1024;

void by_line(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  const uint64_t step = group.next_step();
  std::memcpy(group.own_line(step), in, count * reduction.element);
  group.publish(step);
  for (int rank = 0; rank < group.size(); ++rank) {
    if (rank != group.rank()) group.await_line(rank, step);
  }
  group.all_are_done(step - 1);
  fold(reduction, out, count, group.size(), [&](int rank) { return group.line(rank, step); });
  group.done(step);
}

// Each rank combines all of what the others have copied into their queues.
void by_whole_fragments(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  const size_t element = reduction.element;
  const size_t most = group.fragment_bytes() / element;
  for (size_t at = 0; at < count; at += most) {
    const size_t part = piece(at, count, most);
    const uint64_t step = group.next_step();
    copy_in(group.own_buffer(step), bytes_of(in, at * element), part * element);
    group.publish(step);
    for (int rank = 0; rank < group.size(); ++rank) {
      if (rank != group.rank()) group.await_line(rank, step);
    }
    group.all_are_done(step - 1);
    fold(reduction, bytes_of(out, at * element), part, group.size(),
         [&](int rank) { return group.buffer(rank, step); });
    group.done(step);
  }
}

// Each rank combines its share of a fragment, out of all queues into its own, and then takes the other ranks' shares
// out of their queues.
void by_shares(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  const size_t element = reduction.element;
  const size_t most = group.fragment_bytes() / element;
  const int ranks = group.size(), self = group.rank();
  for (size_t at = 0; at < count; at += most) {
    const size_t part = piece(at, count, most);
    const uint64_t given = group.next_step();
    copy_in(group.own_buffer(given), bytes_of(in, at * element), part * element);
    group.publish(given);

    const uint64_t combined = group.next_step();
    const Share mine = share(part, ranks, self);
    char* result = group.own_buffer(combined);
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank != self) group.await_line(rank, given);
    }
    fold(reduction, result, mine.count, ranks,
         [&](int rank) { return group.buffer(rank, given) + mine.begin * element; });
    group.publish(combined);

    for (int i = 0; i < ranks; ++i) {
      const int rank = (self + i) % ranks;
      const Share theirs = share(part, ranks, rank);
      const char* from = rank == self ? result : group.await_buffer(rank, combined);
      std::memcpy(bytes_of(out, (at + theirs.begin) * element), from, theirs.count * element);
    }
    group.all_are_done(given);
    group.done(combined);
  }
}

// For elements that are too long for a buffer: one element at a time.
void by_gathering(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  const size_t element = reduction.element;
  for (size_t i = 0; i < count; ++i) {
    char* all = group.scratch(element * static_cast<size_t>(group.size()));
    allgather(group, bytes_of(in, i * element), all, element);
    fold(reduction, bytes_of(out, i * element), 1, group.size(),
         [&](int rank) { return all + static_cast<size_t>(rank) * element; });
  }
  group.end_scratch();
}

}  // namespace

void allreduce(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  const size_t bytes = count * reduction.element;
  if (bytes == 0) return;
  if (fits_line(bytes)) {
    if (group.tree_of_numbers() != nullptr) return allreduce_by_tree(group, in, out, count, reduction);
    return by_line(group, in, out, count, reduction);
  }
  if (takes_single_copy(group, Operation::allreduce, bytes)) {
    return reduce_by_single_copy(group, in, out, count, reduction, kAll);
  }
  if (reduction.element > group.fragment_bytes()) return by_gathering(group, in, out, count, reduction);
  if (bytes <= kWholeFragments) return by_whole_fragments(group, in, out, count, reduction);
  by_shares(group, in, out, count, reduction);
}

}  // namespace weft::coll
