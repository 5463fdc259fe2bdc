// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "coll/coll.h"
#include "coll/group/group.h"
#include "coll/operations/fold.h"
#include "coll/ways/copy.h"
#include "coll/ways/single_copy.h"
#include "coll/ways/ways.h"

namespace weft::coll {

namespace {

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

// Each rank combines its share of a fragment, out of all queues into its own, and takes the others' from theirs.
void by_queue(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  const size_t element = reduction.element;
  const size_t most = group.fragment_bytes() / element;
  const int ranks = group.size(), self = group.rank();
  for (size_t at = 0; at < count; at += most) {
    const size_t part = piece(at, count, most);
    const uint64_t given = group.next_step();
    std::memcpy(group.own_buffer(given), bytes_of(in, at * element), part * element);
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

// The same by single copy: each rank reads its share of all ranks' vectors, piece by piece so that they stay in its
// cache, and writes what comes out to all.
void by_single_copy(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  struct Offer {
    uint64_t in, out;
  };
  const size_t element = reduction.element;
  const int ranks = group.size(), self = group.rank();
  const uint64_t step = group.next_step();
  const uint64_t written = group.next_step();
  const Offer own{reinterpret_cast<uint64_t>(in), reinterpret_cast<uint64_t>(out)};
  std::memcpy(group.own_line(step), &own, sizeof own);
  group.publish(step);

  constexpr size_t kPiece = size_t{32} << 10;
  const size_t most = std::max<size_t>(kPiece / element, 1);
  char* result = group.scratch(2 * most * element);
  char* theirs = result + most * element;
  const auto offer_of = [&](int rank) {
    Offer offer;
    std::memcpy(&offer, group.await_line(rank, step), sizeof offer);
    return offer;
  };
  const Share mine = share(count, ranks, self);
  for (size_t at = 0; at < mine.count; at += most) {
    const size_t part = piece(at, mine.count, most);
    const size_t offset = (mine.begin + at) * element;
    const auto take = [&](int rank, char* to) {
      if (rank == self) {
        std::memcpy(to, bytes_of(in, offset), part * element);
      } else {
        read_from(group, rank, to, offer_of(rank).in + offset, part * element);
      }
    };
    take(ranks - 1, result);
    for (int rank = ranks - 2; rank >= 0; --rank) {
      const void* source = bytes_of(in, offset);
      if (rank != self) {
        take(rank, theirs);
        source = theirs;
      }
      reduction.combine(reduction.context, source, result, part);
    }
    for (int i = 0; i < ranks; ++i) {
      const int rank = (self + i) % ranks;
      if (rank == self) {
        std::memcpy(bytes_of(out, offset), result, part * element);
      } else {
        write_to(group, rank, offer_of(rank).out + offset, result, part * element);
      }
    }
  }
  group.own_line(written);
  group.publish(written);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != self) group.await_line(rank, written);
  }
  group.all_are_done(step);
  group.done(written);
}

// Elements that fit no buffer.
void by_gathering(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  const size_t bytes = count * reduction.element;
  char* all = group.scratch(bytes * static_cast<size_t>(group.size()));
  allgather(group, in, all, bytes);
  fold(reduction, out, count, group.size(), [&](int rank) { return all + static_cast<size_t>(rank) * bytes; });
}

}  // namespace

void allreduce(Group& group, const void* in, void* out, size_t count, const Reduction& reduction) noexcept {
  const size_t bytes = count * reduction.element;
  if (bytes == 0) return;
  if (fits_line(bytes)) return by_line(group, in, out, count, reduction);
  if (reduction.element > group.fragment_bytes()) return by_gathering(group, in, out, count, reduction);
  if (takes_single_copy(group, bytes)) return by_single_copy(group, in, out, count, reduction);
  by_queue(group, in, out, count, reduction);
}

}  // namespace weft::coll
