// SPDX-License-Identifier: Apache-2.0
#include "alltoall.h"

namespace weft::tune {

namespace {

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

// All blocks one behind the other.
std::vector<char> packed(const void* data, int count, MPI_Datatype type, size_t bytes, MPI_Comm comm) {
  std::vector<char> into(bytes);
  int position = 0;
  if (bytes > 0) MPI_Pack(data, count, type, into.data(), static_cast<int>(bytes), &position, comm);
  return into;
}

}  // namespace

Exchange::Exchange(const void* send, int send_count_given, MPI_Datatype send_type_given, void* receive,
                   int receive_count_given, MPI_Datatype receive_type_given, MPI_Comm communicator)
    : comm(communicator),
      send_count(send_count_given),
      send_type(send_type_given),
      receive_count(receive_count_given),
      receive_type(receive_type_given),
      send_(static_cast<const char*>(send)),
      receive_(static_cast<char*>(receive)) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int size = 0;
  MPI_Type_size(receive_type, &size);
  bytes = size * receive_count;
  receive_extent_ = extent_of(receive_type);
  if (send == MPI_IN_PLACE) {
    saved_ = packed(receive, receive_count * ranks, receive_type, static_cast<size_t>(bytes) * ranks, comm);
    send_ = saved_.data();
    send_count = bytes;
    send_type = MPI_BYTE;
  }
  send_extent_ = extent_of(send_type);
}

void Exchange::pack() {
  const size_t all = static_cast<size_t>(bytes) * ranks;
  packed_ = packed(send_, send_count * ranks, send_type, all, comm);
  arrived_.resize(all);
}

void Exchange::finish() {
  int position = 0;
  if (arrived_.empty()) return;
  MPI_Unpack(arrived_.data(), static_cast<int>(arrived_.size()), &position, receive_, receive_count * ranks,
             receive_type, comm);
}

Groups groups_of(int ranks, int size) {
  Groups groups;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % size == 0) groups.members.emplace_back();
    groups.members.back().push_back(rank);
    groups.group_of.push_back(static_cast<int>(groups.members.size()) - 1);
  }
  return groups;
}

Groups groups_by_node(MPI_Comm comm) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  // The node's name among ranks is its first rank.
  int leader = rank;
  MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  std::vector<int> leaders(ranks);
  MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, comm);
  Groups groups;
  std::vector<int> index(ranks, -1);
  for (int other = 0; other < ranks; ++other) {
    int& group = index[leaders[other]];
    if (group < 0) {
      group = static_cast<int>(groups.members.size());
      groups.members.emplace_back();
    }
    groups.members[group].push_back(other);
    groups.group_of.push_back(group);
  }
  return groups;
}

}  // namespace weft::tune
