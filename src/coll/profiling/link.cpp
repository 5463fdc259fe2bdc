// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/link.h"

#include <dlfcn.h>

#include "coll/coll.h"
#include "coll/profiling/calls.h"
#include "coll/profiling/process_mpi.h"
#include "coll/profiling/start.h"
#ifdef OPEN_MPI
#include "coll/profiling/fortran.h"
#endif

namespace weft::coll {

ProcessMpi g_mpi;

namespace {

using Own = void* (*)(const char* name) noexcept;

template <class F>
bool set(F* function, void* found) noexcept {
  *function = reinterpret_cast<F>(found);
  return found != nullptr;
}

const char* begin(void* mpi, Own own) noexcept {
#define WEFT_COLL_FIND(name) \
  if (!set(&g_mpi.name, dlsym(mpi, "PMPI_" #name))) return "PMPI_" #name;
  WEFT_COLL_PMPI(WEFT_COLL_FIND)
  WEFT_COLL_CONVERSIONS(WEFT_COLL_FIND)
#undef WEFT_COLL_FIND
  // A program may have the object in itself (a copy relocation): so all look for it in the global scope first.
#define WEFT_COLL_FIND(name) \
  if (!set(&g_mpi.name, dlsym(RTLD_DEFAULT, #name)) && !set(&g_mpi.name, dlsym(mpi, #name))) return #name;
  WEFT_COLL_OBJECTS(WEFT_COLL_FIND)
#undef WEFT_COLL_FIND
#define WEFT_COLL_FIND(member, name) \
  if (!set(&g_mpi.member, own(name))) return name;
  WEFT_COLL_FIND(next_barrier, "MPI_Barrier")
  WEFT_COLL_FIND(next_init, "MPI_Init")
  WEFT_COLL_FIND(next_init_thread, "MPI_Init_thread")
  WEFT_COLL_FIND(next.bcast, "MPI_Bcast")
  WEFT_COLL_FIND(next.reduce, "MPI_Reduce")
  WEFT_COLL_FIND(next.allreduce, "MPI_Allreduce")
  WEFT_COLL_FIND(next.allgather, "MPI_Allgather")
  WEFT_COLL_FIND(next.alltoall, "MPI_Alltoall")
#undef WEFT_COLL_FIND
  // MPIs before version 4 of the standard lack these, and programs see that.
  set(&g_mpi.next_large.bcast, own("MPI_Bcast_c"));
  set(&g_mpi.next_large.reduce, own("MPI_Reduce_c"));
  set(&g_mpi.next_large.allreduce, own("MPI_Allreduce_c"));
  set(&g_mpi.next_large.allgather, own("MPI_Allgather_c"));
  set(&g_mpi.next_large.alltoall, own("MPI_Alltoall_c"));
#ifdef OPEN_MPI
  fortran::begin(own);
#endif
  return nullptr;
}

#define ROW(name, ...) {name, reinterpret_cast<void (*)()>(__VA_ARGS__)},
const mpi::Replacement kFunctions[] = {
    // clang-format off
    ROW("MPI_Init", call_init) ROW("MPI_Init_thread", call_init_thread) ROW("MPI_Barrier", call_barrier)
    ROW("MPI_Bcast", call_bcast<int>) ROW("MPI_Bcast_c", call_bcast<MPI_Count>)
    ROW("MPI_Reduce", call_reduce<int>) ROW("MPI_Reduce_c", call_reduce<MPI_Count>)
    ROW("MPI_Allreduce", call_allreduce<int>) ROW("MPI_Allreduce_c", call_allreduce<MPI_Count>)
    ROW("MPI_Allgather", call_allgather<int>) ROW("MPI_Allgather_c", call_allgather<MPI_Count>)
    ROW("MPI_Alltoall", call_alltoall<int>) ROW("MPI_Alltoall_c", call_alltoall<MPI_Count>)
#ifdef OPEN_MPI
    ROW("mpi_init", fortran::init) ROW("mpi_init_thread", fortran::init_thread)
    // The operations, behind all others.
    ROW("mpi_barrier", fortran::barrier) ROW("mpi_bcast", fortran::bcast) ROW("mpi_reduce", fortran::reduce)
    ROW("mpi_allreduce", fortran::allreduce) ROW("mpi_allgather", fortran::allgather)
    ROW("mpi_alltoall", fortran::alltoall)
#endif
    // clang-format on
};

mpi::Replacements functions() noexcept {
  int count = sizeof kFunctions / sizeof *kFunctions;
#ifdef OPEN_MPI
  if (!fortran::is_known()) count -= kOperations;
#endif
  return {kFunctions, count};
}

}  // namespace

}  // namespace weft::coll

extern "C" [[gnu::visibility("default")]] const weft::coll::Link weft_coll_link;
const weft::coll::Link weft_coll_link{
    .layout = weft::coll::kLinkLayout, .begin = weft::coll::begin, .functions = weft::coll::functions};
