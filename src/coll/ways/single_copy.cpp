// SPDX-License-Identifier: Apache-2.0
#include "coll/ways/single_copy.h"

#include "base/message.h"
#include "coll/ways/peer_memory.h"

namespace weft::coll {

void read_from(Group& group, int rank, void* to, uint64_t from, size_t bytes) noexcept {
  const pid_t pid = group.member(rank).process.pid;
  if (!read_peer(pid, to, from, bytes)) base::fatal("collectives: the memory of process %d cannot be read", pid);
}

void write_to(Group& group, int rank, uint64_t to, const void* from, size_t bytes) noexcept {
  const pid_t pid = group.member(rank).process.pid;
  if (!write_peer(pid, to, from, bytes)) base::fatal("collectives: the memory of process %d cannot be written", pid);
}

}  // namespace weft::coll
