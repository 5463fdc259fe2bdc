// SPDX-License-Identifier: Apache-2.0
// What stands in the place of MPI's collectives. `Count`: int, or MPI_Count in those for large counts.
#pragma once

#include "coll/profiling/process_mpi.h"

namespace weft::coll {

int call_barrier(MPI_Comm comm) noexcept;
template <class Count>
int call_bcast(void* data, Count count, MPI_Datatype type, int root, MPI_Comm comm) noexcept;
template <class Count>
int call_reduce(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm) noexcept;
template <class Count>
int call_allreduce(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) noexcept;
template <class Count>
int call_allgather(const void* send, Count send_count, MPI_Datatype send_type, void* receive, Count count,
                   MPI_Datatype type, MPI_Comm comm) noexcept;
template <class Count>
int call_alltoall(const void* send, Count send_count, MPI_Datatype send_type, void* receive, Count count,
                  MPI_Datatype type, MPI_Comm comm) noexcept;

}  // namespace weft::coll
