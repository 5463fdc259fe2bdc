// SPDX-License-Identifier: Apache-2.0
#include "coll/ways/single_copy.h"

#include "base/message.h"
#include "coll/ways/peer_memory.h"

namespace weft::coll {

namespace {

// Ends the program where a rank's memory cannot be read or written. Mostly that rank has died; then the group says so.
[[noreturn]] void cannot(Group& group, int rank, const char* do_what) noexcept {
  group.die_with(rank);
  base::fatal("collectives: the memory of process %d cannot be %s", group.member(rank).process.pid, do_what);
}

}  // namespace

void read_from(Group& group, int rank, void* to, uint64_t from, size_t bytes) noexcept {
  const pid_t pid = group.member(rank).process.pid;
  if (!read_peer(pid, to, from, bytes)) cannot(group, rank, "read");
}

void write_to(Group& group, int rank, uint64_t to, const void* from, size_t bytes) noexcept {
  const pid_t pid = group.member(rank).process.pid;
  if (!write_peer(pid, to, from, bytes)) cannot(group, rank, "written");
}

}  // namespace weft::coll
