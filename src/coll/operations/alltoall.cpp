// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "coll/coll.h"
#include "coll/group/group.h"
#include "coll/ways/copy.h"
#include "coll/ways/single_copy.h"
#include "coll/ways/ways.h"

namespace weft::coll {

namespace {

void copy_own(Group& group, const char* send, char* recv, size_t bytes) noexcept {
  const size_t at = static_cast<size_t>(group.rank()) * bytes;
  if (send != recv) std::memcpy(recv + at, send + at, bytes);
}

// The place of the block for rank `to` among those that rank `from` gives to others.
size_t place_of(size_t to, size_t from) noexcept { return to - (to > from ? 1 : 0); }

// One step: `bytes` of each block from `at` on, of blocks of `block` bytes. In a buffer they lie one after the other,
// in the order of the ranks that take them.
template <bool kLine>
void by_step(Group& group, const char* send, char* recv, size_t block, size_t at, size_t bytes) noexcept {
  const auto self = static_cast<size_t>(group.rank());
  const uint64_t step = group.next_step();
  char* own = kLine ? reinterpret_cast<char*>(group.own_line(step)) : group.own_buffer(step);
  for (size_t rank = 0; rank < static_cast<size_t>(group.size()); ++rank) {
    if (rank != self) copy_in(own + place_of(rank, self) * bytes, send + rank * block + at, bytes);
  }
  group.publish(step);
  for (int i = 1; i < group.size(); ++i) {
    const int rank = (group.rank() + i) % group.size();
    const char* theirs =
        kLine ? reinterpret_cast<const char*>(group.await_line(rank, step)) : group.await_buffer(rank, step);
    std::memcpy(recv + static_cast<size_t>(rank) * block + at,
                theirs + place_of(self, static_cast<size_t>(rank)) * bytes, bytes);
  }
  group.all_are_done(step - 1);
  group.done(step);
}

// The ranks read in pairs: at any time each rank reads a different rank's memory.
void by_single_copy(Group& group, const char* send, char* recv, size_t bytes) noexcept {
  const auto ranks = static_cast<size_t>(group.size()), self = static_cast<size_t>(group.rank());
  if (send == recv) {
    char* kept = group.scratch(ranks * bytes);
    std::memcpy(kept, send, ranks * bytes);
    send = kept;
  }
  const uint64_t step = group.next_step();
  offer(group, step, send);
  for (size_t i = 1; i < ranks; ++i) {
    const size_t rank = (self + i) % ranks;
    const int peer = static_cast<int>(rank);
    read_from(group, peer, recv + rank * bytes, await_offer(group, peer, step) + self * bytes, bytes);
  }
  group.done(step);
  copy_own(group, send, recv, bytes);
  group.await_all_done(step);
  group.end_scratch();
}

}  // namespace

bool suits_alltoall(const Group& group, size_t bytes) noexcept {
  constexpr size_t kLeastPiece = 256;
  const size_t most = group.fragment_bytes() / (static_cast<size_t>(group.size()) - 1);
  return bytes <= std::max(most, kLeastPiece) || most >= kLeastPiece ||
         takes_single_copy(group, Operation::alltoall, bytes);
}

void alltoall(Group& group, const void* send, void* recv, size_t bytes) noexcept {
  if (bytes == 0) return;
  const char* from = bytes_of(send, 0);
  char* to = bytes_of(recv, 0);
  if (takes_single_copy(group, Operation::alltoall, bytes)) return by_single_copy(group, from, to, bytes);
  copy_own(group, from, to, bytes);
  const auto others = static_cast<size_t>(group.size()) - 1;
  if (fits_line(others * bytes)) return by_step<true>(group, from, to, bytes, 0, bytes);
  const size_t most = group.fragment_bytes() / others;
  for (size_t at = 0; at < bytes; at += most) by_step<false>(group, from, to, bytes, at, piece(at, bytes, most));
}

}  // namespace weft::coll
