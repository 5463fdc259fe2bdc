// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "alltoall/alltoall.h"
#include "node_barrier.h"
#include "plan.h"

namespace weft::tune {

struct Options {
  double seconds = 0;        // of the whole job; 0: no limit
  double entry_seconds = 2;  // of one entry, behind its first calls
  bool paper = false;        // MPI_Barrier before each call, and the same data in every call
  unsigned first_number = 0;
};

struct Result {
  std::vector<double> nanoseconds;  // of each call: from its start to its end, on the rank that took longest
  double skew = 0;                  // nanoseconds between the first rank's start and the last one's, median
  std::string fault;
};

class Meter {
 public:
  Meter(NodeBarrier& barrier, const Options& options);
  // Collective. All ranks get the same.
  Result measure(const Entry& entry);

 private:
  // How many calls are measured before the ranks agree whether to go on.
  static constexpr int kBatch = 5;

  int run(const Entry& entry, const Call& call, const Place& place, Buffers& buffers) const;
  bool batch(const Entry& entry, const Place& place, Buffers& buffers, int calls, bool verify, Result& result);

  NodeBarrier& barrier_;
  Options options_;
  Controls controls_;
  Communicators communicators_;
  MPI_Comm agree_ = MPI_COMM_NULL;  // for the meter's own messages
  Alltoall own_;
  unsigned number_;
};

}  // namespace weft::tune
