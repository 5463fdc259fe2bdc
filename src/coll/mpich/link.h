// SPDX-License-Identifier: Apache-2.0
// Between the names that a process sees, which know nothing of MPI's arguments, and the calls, which are MPICH's.
#pragma once

#include <cstdint>

namespace weft::coll {

using Function = void (*)();

enum Name { kBarrier, kBcast, kReduce, kAllreduce, kAllgather, kAlltoall, kInit, kInitThread, kNames };

inline constexpr const char* kNameTexts[kNames] = {"MPI_Barrier",   "MPI_Bcast",    "MPI_Reduce", "MPI_Allreduce",
                                                   "MPI_Allgather", "MPI_Alltoall", "MPI_Init",   "MPI_Init_thread"};

// weft's functions, for a process whose MPI is MPICH or one with its ABI. `mpi`: a handle of the library. `next`: what
// the process would have by those names without weft. Null: the MPI lacks what they need.
const Function* calls_of_mpich(void* mpi, const Function* next) noexcept;

}  // namespace weft::coll
