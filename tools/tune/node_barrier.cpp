// SPDX-License-Identifier: Apache-2.0
#include "node_barrier.h"

#include <cstdio>
#include <new>

#include <sched.h>

namespace weft::tune {

namespace {

// The CPUs that the ranks of a node may use together.
int cpus_of(MPI_Comm node) {
  cpu_set_t own;
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  cpu_set_t all;
  MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node);
  return CPU_COUNT(&all);
}

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

void NodeBarrier::pause() const {
  if (crowded_) sched_yield();
}

void NodeBarrier::wait() {
  ++round_;
  Line& release = lines_[ranks_];
  if (rank_ != 0) {
    lines_[rank_].round.store(round_);
    while (release.round.load() != round_) pause();
    return;
  }
  for (int other = 1; other < ranks_; ++other) {
    while (lines_[other].round.load() != round_) pause();
  }
  if (nodes_ > 1) MPI_Barrier(leaders_);
  release.round.store(round_);
}

}  // namespace weft::tune
