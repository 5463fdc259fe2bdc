// SPDX-License-Identifier: Apache-2.0
#include "coll/operations/reduce_by_single_copy.h"

#include <algorithm>
#include <cstring>

#include "coll/ways/copy.h"
#include "coll/ways/single_copy.h"

namespace weft::coll {

namespace {

// So many bytes are combined at a time: few enough to stay in a CPU's own cache, and enough to make the system calls
// short in comparison.
constexpr size_t kPiece = size_t{256} << 10;

struct Offer {
  uint64_t in, out;
};

// The part of the vector that rank `self` combines. Where only the root wants the result, it gets a greater part, as it
// need not write the result to others: to read and combine takes about 2 per byte and rank, to write takes 1. Of few
// ranks, the root does all of a short vector: the lines that others would write come to its CPU slowly.
Share share_of(size_t count, size_t bytes, int ranks, int self, int root) noexcept {
  if (root == kAll) return share(count, ranks, self);
  constexpr int kFew = 3;
  constexpr size_t kShort = size_t{128} << 10;
  if (ranks <= kFew && bytes <= kShort) return self == root ? Share{0, count} : Share{count, 0};
  const size_t others = static_cast<size_t>(ranks) - 1, less = 2 * others, more = less + 1;
  const size_t each = count / (others * less + more) * less;
  const size_t roots = count - others * each;
  if (self == root) return {0, roots};
  return {roots + each * static_cast<size_t>(self < root ? self : self - 1), each};
}

}  // namespace

void reduce_by_single_copy(Group& group, const void* in, void* out, size_t count, const Reduction& reduction,
                           int root) noexcept {
  const size_t element = reduction.element;
  const int ranks = group.size(), self = group.rank(), last = ranks - 1;
  const bool wants = root == kAll || root == self;
  const uint64_t step = group.next_step();
  const uint64_t written = group.next_step();
  const Offer own{reinterpret_cast<uint64_t>(in), reinterpret_cast<uint64_t>(out)};
  std::memcpy(group.own_line(step), &own, sizeof own);
  group.publish(step);
  const auto offer_of = [&](int rank) {
    Offer offer;
    std::memcpy(&offer, group.await_line(rank, step), sizeof offer);
    return offer;
  };

  const size_t most = std::max<size_t>(kPiece / element, 1);
  char* theirs = group.scratch(2 * most * element);
  // The result is built in its place, unless that would overwrite operands that are still to be combined.
  const bool in_place = wants && (in != out || self == last);
  const Share mine = share_of(count, count * element, ranks, self, root);
  for (size_t at = 0; at < mine.count; at += most) {
    const size_t part = piece(at, mine.count, most);
    const size_t offset = (mine.begin + at) * element, bytes = part * element;
    const char* ours = bytes_of(in, offset);
    char* result = in_place ? bytes_of(out, offset) : theirs + most * element;
    if (self != last) {
      read_from(group, last, result, offer_of(last).in + offset, bytes);
    } else if (result != ours) {
      std::memcpy(result, ours, bytes);
    }
    for (int rank = last - 1; rank >= 0; --rank) {
      if (rank != self) read_from(group, rank, theirs, offer_of(rank).in + offset, bytes);
      reduction.combine(reduction.context, rank == self ? ours : theirs, result, part);
    }
    if (wants && !in_place) std::memcpy(bytes_of(out, offset), result, bytes);
    for (int i = 1; i < ranks; ++i) {
      const int rank = (self + i) % ranks;
      if (root == kAll || root == rank) write_to(group, rank, offer_of(rank).out + offset, result, bytes);
    }
  }
  // A rank that has written its part of the result has read all that it needs too.
  group.own_line(written);
  group.publish(written);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != self) group.await_line(rank, written);
  }
  group.all_are_done(step);
  group.done(written);
}

}  // namespace weft::coll
