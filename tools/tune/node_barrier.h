// SPDX-License-Identifier: Apache-2.0
// A barrier by shared memory, so that ranks of a node leave it at almost the same time and no collective is measured
// together with another one. Between nodes, the leaders wait for each other by MPI.
#pragma once

#include <atomic>

#include <mpi.h>

namespace weft::tune {

class NodeBarrier {
 public:
  // Collective. Ends the job with a message when there is no shared memory.
  explicit NodeBarrier(MPI_Comm comm);
  NodeBarrier(const NodeBarrier&) = delete;
  NodeBarrier& operator=(const NodeBarrier&) = delete;

  // True when this or another rank has said in this call that it failed; all ranks get the same.
  bool wait(bool failed = false);
  // The ranks of this node.
  MPI_Comm node() const { return node_; }
  int nodes() const { return nodes_; }
  // There are more ranks than CPUs, so that a rank that waits must yield.
  bool crowded() const { return crowded_; }

 private:
  struct alignas(64) Line {
    std::atomic<unsigned> round;
    bool failed;  // written before the round
  };

  // Until the round is in the line. Whether it says that a rank failed.
  bool await(const Line& line) const;

  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Comm leaders_ = MPI_COMM_NULL;
  Line* lines_ = nullptr;  // one for each rank of the node, and the last to release them
  int rank_ = 0;
  int ranks_ = 1;
  int nodes_ = 1;
  bool crowded_ = false;
  unsigned round_ = 0;
};

}  // namespace weft::tune
