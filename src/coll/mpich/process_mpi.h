// SPDX-License-Identifier: Apache-2.0
// MPICH's functions, found in the process: the library is linked to no MPI.
#pragma once

#include <mpi.h>

namespace weft::coll {

// PMPI_X by the name X.
// clang-format off
#define WEFT_COLL_PMPI(F) \
  F(Abort) F(Allgather) F(Comm_call_errhandler) F(Comm_create_keyval) F(Comm_get_attr) F(Comm_get_name) F(Comm_group) F(Comm_rank) \
  F(Comm_set_attr) F(Comm_size) F(Comm_test_inter) F(Group_free) F(Group_translate_ranks) F(Iprobe) F(Irecv) F(Isend) F(Pack) \
  F(Reduce_local) F(Test) F(Type_commit) F(Type_create_hindexed) F(Type_free) F(Type_get_contents) F(Type_get_envelope) \
  F(Type_get_extent) F(Type_size_x) F(Unpack)
// clang-format on

struct ProcessMpi {
#define WEFT_COLL_MEMBER(name) decltype(&PMPI_##name) name;
  WEFT_COLL_PMPI(WEFT_COLL_MEMBER)
#undef WEFT_COLL_MEMBER
  // The functions that the program would call without weft; they may be a tool's.
  decltype(&MPI_Barrier) next_barrier;
  decltype(&MPI_Bcast) next_bcast;
  decltype(&MPI_Reduce) next_reduce;
  decltype(&MPI_Allreduce) next_allreduce;
  decltype(&MPI_Allgather) next_allgather;
  decltype(&MPI_Alltoall) next_alltoall;
  decltype(&MPI_Init) next_init;
  decltype(&MPI_Init_thread) next_init_thread;
};

// Filled before the first call.
extern ProcessMpi g_mpi;

}  // namespace weft::coll
