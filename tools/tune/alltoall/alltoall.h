// SPDX-License-Identifier: Apache-2.0
// All-to-all exchanges on point-to-point messages, which the MPI's own are compared with. They take what MPI_Alltoall
// takes: any number of ranks, MPI_IN_PLACE, derived types, counts of zero, different types on both sides.
#pragma once

#include <string>
#include <vector>

#include <mpi.h>

namespace weft::tune {

// Ranks that stand together, say on one node: the first of each group speaks for it.
struct Groups {
  std::vector<std::vector<int>> members;
  std::vector<int> group_of;  // by rank
};

// Of `size` ranks that follow each other, the last group may be smaller.
Groups groups_of(int ranks, int size);
// By node, as MPI sees it. Collective.
Groups groups_by_node(MPI_Comm comm);

// The arguments of one call as bytes: blocks of derived types are packed and unpacked.
class Exchange {
 public:
  Exchange(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
           MPI_Datatype receive_type, MPI_Comm comm);

  MPI_Comm comm;
  int rank = 0;
  int ranks = 1;
  int bytes = 0;  // of a block

  // The block for rank `to`, contiguous. Valid until the Exchange ends.
  const char* outgoing(int to) const { return packed_.data() + static_cast<size_t>(to) * bytes; }
  char* incoming(int from) { return arrived_.data() + static_cast<size_t>(from) * bytes; }
  // What has arrived goes where the caller wants it.
  void finish();

  // Without packing: where a type and its count can be given to MPI as they are.
  const void* send_block(int to) const { return send_ + to * send_extent_ * send_count; }
  void* receive_block(int from) const { return receive_ + from * receive_extent_ * receive_count; }
  int send_count;
  MPI_Datatype send_type;
  int receive_count;
  MPI_Datatype receive_type;

  // Fills the packed copies, which only some algorithms want.
  void pack();

 private:
  const char* send_;
  char* receive_;
  MPI_Aint send_extent_ = 0;
  MPI_Aint receive_extent_ = 0;
  std::vector<char> saved_;  // with MPI_IN_PLACE: what was in the buffer
  std::vector<char> packed_;
  std::vector<char> arrived_;
};

void linear(Exchange& exchange);
// At most `window` messages in each direction at once.
void scattered(Exchange& exchange, int window);
void pairwise(Exchange& exchange);
// In each round a rank passes on all blocks whose distance has a certain digit in base `radix`.
void bruck(Exchange& exchange, int radix);
// Leaders collect what their groups send, exchange it, and hand out what has come.
void hierarchical(Exchange& exchange, const Groups& groups);

// An algorithm by its name: linear, pairwise, scattered:WINDOW, bruck:RADIX, hierarchical (by node), hierarchical:SIZE.
class Alltoall {
 public:
  // False: there is no such algorithm. Collective.
  bool choose(const std::string& name, MPI_Comm comm);
  int run(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
          MPI_Datatype receive_type, MPI_Comm comm) const;

 private:
  std::string name_;
  int parameter_ = 0;
  Groups groups_;
};

}  // namespace weft::tune
