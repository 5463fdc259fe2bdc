// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/worlds.h"

#include <atomic>

#include "mpi/library/calls/helped.h"

namespace weft::mpi {

namespace {

// Before this no communicator but an intercommunicator has ranks of two worlds.
std::atomic<bool> g_worlds_merged{false};

bool leaves_world(MPI_Comm communicator) noexcept {
  MPI_Group members;
  MPI_Group world;
  MPI_Group others;
  int count = 0;
  if (PMPI_Comm_group(communicator, &members) != MPI_SUCCESS) return false;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_difference(members, world, &others);
  PMPI_Group_size(others, &count);
  for (MPI_Group* group : {&members, &world, &others}) {
    if (*group != MPI_GROUP_EMPTY) PMPI_Group_free(group);
  }
  return count > 0;
}

}  // namespace

bool may_span_worlds(MPI_Comm communicator) noexcept {
  if (communicator == MPI_COMM_NULL) return false;
  int inter = 0;
  if (PMPI_Comm_test_inter(communicator, &inter) != MPI_SUCCESS) return false;
  if (inter != 0) return true;
  // Relaxed: a thread that uses a merged communicator has it from the call that set this.
  return g_worlds_merged.load(std::memory_order_relaxed) && leaves_world(communicator);
}

void note_merged(MPI_Comm communicator) noexcept {
  // Relaxed: as in may_span_worlds().
  if (leaves_world(communicator)) g_worlds_merged.store(true, std::memory_order_relaxed);
}

int intercomm_merge(MPI_Comm communicator, int high, MPI_Comm* merged) noexcept {
  return intercomm_merge_from(__builtin_return_address(0), communicator, high, merged);
}

int intercomm_merge_from(const void* caller, MPI_Comm communicator, int high, MPI_Comm* merged) noexcept {
  const int code = Helped<PMPI_Intercomm_merge, 0>::call_from(caller, communicator, high, merged);
  if (code == MPI_SUCCESS) note_merged(*merged);
  return code;
}

}  // namespace weft::mpi
