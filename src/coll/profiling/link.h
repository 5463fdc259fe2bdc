// SPDX-License-Identifier: Apache-2.0
// The interface between libweft-coll.so, whose names programs see and which knows nothing of MPI's arguments, and the
// library for the MPI of the process, which it loads. Both are to come from one build; the layout's number shows
// whether they do.
#pragma once

namespace weft::coll {

using Function = void (*)();

enum Name { kBarrier, kBcast, kReduce, kAllreduce, kAllgather, kAlltoall, kInit, kInitThread, kNames };

inline constexpr const char* kNameTexts[kNames] = {"MPI_Barrier",   "MPI_Bcast",    "MPI_Reduce", "MPI_Allreduce",
                                                   "MPI_Allgather", "MPI_Alltoall", "MPI_Init",   "MPI_Init_thread"};

inline constexpr int kLinkLayout = 1;

// The library exports one such object, by the name kLinkName.
struct Link {
  int layout;
  // Returns weft's functions, by Name. `mpi`: a handle of the MPI of the process. `next`: the functions that the
  // process would have by these names without weft. Null: the MPI lacks a function or an object that weft needs.
  const Function* (*calls_before)(void* mpi, const Function* next) noexcept;
};
inline constexpr char kLinkName[] = "weft_coll_link";

}  // namespace weft::coll
