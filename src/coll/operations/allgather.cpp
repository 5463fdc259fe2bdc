// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "coll/coll.h"
#include "coll/group/group.h"
#include "coll/ways/copy.h"
#include "coll/ways/single_copy.h"
#include "coll/ways/ways.h"

namespace weft::coll {

namespace {

void copy_own(Group& group, const char* mine, char* all, size_t bytes) noexcept {
  char* place = all + static_cast<size_t>(group.rank()) * bytes;
  if (mine != place) std::memcpy(place, mine, bytes);
}

// One step: `bytes` of each rank from `at` on, of blocks of `block` bytes.
template <bool kLine>
void by_step(Group& group, const char* mine, char* all, size_t block, size_t at, size_t bytes) noexcept {
  const uint64_t step = group.next_step();
  std::memcpy(kLine ? static_cast<void*>(group.own_line(step)) : group.own_buffer(step), mine + at, bytes);
  group.publish(step);
  for (int i = 1; i < group.size(); ++i) {
    const int rank = (group.rank() + i) % group.size();
    const void* from = kLine ? static_cast<const void*>(group.await_line(rank, step)) : group.await_buffer(rank, step);
    std::memcpy(all + static_cast<size_t>(rank) * block + at, from, bytes);
  }
  group.all_are_done(step - 1);
  group.done(step);
}

void by_single_copy(Group& group, const char* mine, char* all, size_t bytes) noexcept {
  const uint64_t step = group.next_step();
  offer(group, step, mine);
  for (int i = 1; i < group.size(); ++i) {
    const int rank = (group.rank() + i) % group.size();
    read_from(group, rank, all + static_cast<size_t>(rank) * bytes, await_offer(group, rank, step), bytes);
  }
  group.done(step);
  copy_own(group, mine, all, bytes);
  group.await_all_done(step);
}

}  // namespace

void allgather(Group& group, const void* mine, void* all, size_t bytes) noexcept {
  if (bytes == 0) return;
  const char* from = bytes_of(mine, 0);
  char* to = bytes_of(all, 0);
  if (takes_single_copy(group, Operation::allgather, bytes)) return by_single_copy(group, from, to, bytes);
  copy_own(group, from, to, bytes);
  if (fits_line(bytes)) return by_step<true>(group, from, to, bytes, 0, bytes);
  const size_t most = group.fragment_bytes();
  for (size_t at = 0; at < bytes; at += most) by_step<false>(group, from, to, bytes, at, piece(at, bytes, most));
}

}  // namespace weft::coll
