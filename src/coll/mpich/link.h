// SPDX-License-Identifier: Apache-2.0
// The link between the names that a process sees, which know nothing of MPI's arguments, and the calls, which are built
// for MPICH.
#pragma once

#include <cstdint>

namespace weft::coll {

using Function = void (*)();

enum Name { kBarrier, kBcast, kReduce, kAllreduce, kAllgather, kAlltoall, kInit, kInitThread, kNames };

inline constexpr const char* kNameTexts[kNames] = {"MPI_Barrier",   "MPI_Bcast",    "MPI_Reduce", "MPI_Allreduce",
                                                   "MPI_Allgather", "MPI_Alltoall", "MPI_Init",   "MPI_Init_thread"};

// Returns weft's functions, by Name, for a process whose MPI is MPICH or one with its ABI. `mpi`: a handle of the
// library. `next`: the functions that the process would have by these names without weft. Null: the MPI lacks a
// function that weft needs.
const Function* calls_of_mpich(void* mpi, const Function* next) noexcept;

}  // namespace weft::coll
