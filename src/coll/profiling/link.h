// SPDX-License-Identifier: Apache-2.0
// The link between the names that a process sees, which know nothing of MPI's arguments, and the calls, which are built
// for one family of MPIs.
#pragma once

#include <cstdint>

#include "mpi/front/mapped.h"

namespace weft::coll {

using Function = void (*)();

enum Name { kBarrier, kBcast, kReduce, kAllreduce, kAllgather, kAlltoall, kInit, kInitThread, kNames };

inline constexpr const char* kNameTexts[kNames] = {"MPI_Barrier",   "MPI_Bcast",    "MPI_Reduce", "MPI_Allreduce",
                                                   "MPI_Allgather", "MPI_Alltoall", "MPI_Init",   "MPI_Init_thread"};

// The family that the calls are built for.
extern const mpi::Kind kBuiltFor;

// Returns weft's functions, by Name, for a process whose MPI is of that family, or has its ABI. `mpi`: a handle of the
// library. `next`: the functions that the process would have by these names without weft. Null: the MPI lacks a
// function or an object that weft needs.
const Function* calls_before(void* mpi, const Function* next) noexcept;

}  // namespace weft::coll
