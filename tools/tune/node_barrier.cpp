// SPDX-License-Identifier: Apache-2.0
#include "node_barrier.h"

#include <cstdio>
#include <new>

#include <sched.h>

#include "place.h"

namespace weft::tune {

namespace {

// Looks between which MPI makes progress: another rank may wait for a message that this one has only begun to send.
constexpr int kLooks = 4096;

}  // namespace

NodeBarrier::NodeBarrier(MPI_Comm comm) {
  int world = 0;
  MPI_Comm_rank(comm, &world);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, world, MPI_INFO_NULL, &node_);
  MPI_Comm_rank(node_, &rank_);
  MPI_Comm_size(node_, &ranks_);
  MPI_Comm_split(comm, rank_ == 0 ? 0 : MPI_UNDEFINED, world, &leaders_);
  if (rank_ == 0) MPI_Comm_size(leaders_, &nodes_);
  MPI_Bcast(&nodes_, 1, MPI_INT, 0, node_);
  crowded_ = ranks_ > cpus_of(node_);

  MPI_Win window = MPI_WIN_NULL;
  const MPI_Aint own = rank_ == 0 ? static_cast<MPI_Aint>(sizeof(Line)) * (ranks_ + 2) : 0;
  void* memory = nullptr;
  if (MPI_Win_allocate_shared(own, 1, MPI_INFO_NULL, node_, &memory, &window) != MPI_SUCCESS) {
    std::fprintf(stderr, "weft: tune: no memory that the ranks of a node share\n");
    MPI_Abort(comm, 1);
  }
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &size, &unit, &memory);
  const auto address = reinterpret_cast<size_t>(memory);
  lines_ = reinterpret_cast<Line*>((address + sizeof(Line) - 1) / sizeof(Line) * sizeof(Line));
  if (rank_ == 0) {
    for (int i = 0; i <= ranks_; ++i) new (&lines_[i]) Line{};
  }
  MPI_Barrier(node_);
}

bool NodeBarrier::await(const Line& line) const {
  for (int looks = 1; line.round.load() != round_; ++looks) {
    if (crowded_) sched_yield();
    if (looks % kLooks != 0) continue;
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, node_, &there, MPI_STATUS_IGNORE);
  }
  return line.failed;
}

bool NodeBarrier::wait(bool failed) {
  ++round_;
  Line& release = lines_[ranks_];
  if (rank_ != 0) {
    lines_[rank_].failed = failed;
    lines_[rank_].round.store(round_);
    return await(release);
  }
  for (int other = 1; other < ranks_; ++other) failed = await(lines_[other]) || failed;
  int any = failed ? 1 : 0;
  if (nodes_ > 1) MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, leaders_);
  release.failed = any != 0;
  release.round.store(round_);
  return any != 0;
}

}  // namespace weft::tune
