// SPDX-License-Identifier: Apache-2.0
#include "alltoall.h"

#include <cstdlib>

namespace weft::tune {

bool Alltoall::choose(const std::string& name, MPI_Comm comm) {
  const size_t colon = name.find(':');
  const bool has_parameter = colon != std::string::npos;
  name_ = name.substr(0, colon);
  parameter_ = has_parameter ? std::atoi(name.c_str() + colon + 1) : 0;
  if (name_ == "linear" || name_ == "pairwise") return !has_parameter;
  if (name_ == "scattered") return parameter_ >= 1;
  if (name_ == "bruck") return parameter_ >= 2;
  if (name_ != "hierarchical" || (has_parameter && parameter_ < 1)) return false;
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  groups_ = has_parameter ? groups_of(ranks, parameter_) : groups_by_node(comm);
  return true;
}

int Alltoall::run(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm) const {
  Exchange exchange(send, send_count, send_type, receive, receive_count, receive_type, comm);
  if (name_ == "linear") linear(exchange);
  if (name_ == "pairwise") pairwise(exchange);
  if (name_ == "scattered") scattered(exchange, parameter_);
  if (name_ == "bruck") bruck(exchange, parameter_);
  if (name_ == "hierarchical") hierarchical(exchange, groups_);
  return MPI_SUCCESS;
}

}  // namespace weft::tune
