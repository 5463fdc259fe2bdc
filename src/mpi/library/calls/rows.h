// SPDX-License-Identifier: Apache-2.0
// The rows of the tables of calls, by their kinds.
#pragma once

#include "mpi/library/calls/attempted.h"
#include "mpi/library/calls/collectives.h"
#include "mpi/library/calls/helped.h"
#include "mpi/library/calls/sendrecv.h"
#include "mpi/library/calls/started.h"
#include "mpi/library/calls/tested.h"
#include "mpi/library/mpi.h"
#include "mpi/link.h"

// ROW(name, replacement): a function of MPI's by its name, and what replaces it. The other macros make such rows.
#define ROW(name, ...) {"MPI_" #name, reinterpret_cast<void (*)()>(__VA_ARGS__)},
// Calls that have a non-blocking twin.
#define MESSAGE(name, twin) ROW(name, &Message<PMPI_##name, PMPI_##twin>::call)
#define COLLECTIVE(name, twin) ROW(name, &Collective<PMPI_##name, PMPI_##twin>::call)
// `arguments`: how many the twin has without the request; `operation`: the place of the reduction's operation.
#define REDUCTION(name, twin, arguments, operation) \
  ROW(name, &Reduction<PMPI_##name, PMPI_##twin, (arguments) - (operation)>::call)
// `attempt`: the function that is called again and again; `flag`: the place of its flag.
#define ATTEMPTED(name, attempt, flag) ROW(name, &Attempted<PMPI_##name, PMPI_##attempt, flag>::call)
#define TESTED(name, found) ROW(name, &Tested<PMPI_##name, found>::call)
// `ordered_by`: the place of the argument that orders the calls for a helper.
#define HELPED(name, ordered_by) ROW(name, &Helped<PMPI_##name, ordered_by>::call)
#define IN_PLACE(name) ROW(name, &InPlace<PMPI_##name>::call)

#if defined(OPEN_MPI) || defined(MPI_ABI_VERSION)
// Seen with 4.1.4 and 5.0.11: a non-blocking read beyond the end of a file never completes, and between two neighbours
// that are the same rank the non-blocking exchanges swap what they bring. So helpers make these calls, and where the
// MPI with the standard's ABI may be Open MPI.
#define FILE_CALL(name, twin) HELPED(name, kUnordered)
#define FILE_COLLECTIVE(name, twin) HELPED(name, 0)
#define EXCHANGE(name, twin, ordered_by) HELPED(name, ordered_by)
#else
#define FILE_CALL(name, twin) ROW(name, &Started<PMPI_##name, PMPI_##twin, Alone, File>::call)
#define FILE_COLLECTIVE(name, twin) ROW(name, &Started<PMPI_##name, PMPI_##twin, Together, File>::call)
#define EXCHANGE(name, twin, ordered_by) COLLECTIVE(name, twin)
#endif

// Functions that MPI has twice: for counts of int, and with _c for large counts.
// clang-format off
#define ROWS_OF_BOTH(c) \
  MESSAGE(Send##c, Isend##c) MESSAGE(Ssend##c, Issend##c) MESSAGE(Rsend##c, Irsend##c) \
  MESSAGE(Bsend##c, Ibsend##c) MESSAGE(Recv##c, Irecv##c) \
  ROW(Mrecv##c, &Started<PMPI_Mrecv##c, PMPI_Imrecv##c, Alone, Request>::call) \
  HELPED(Buffer_detach##c, kUnordered) \
  COLLECTIVE(Bcast##c, Ibcast##c) \
  COLLECTIVE(Gather##c, Igather##c) COLLECTIVE(Gatherv##c, Igatherv##c) \
  COLLECTIVE(Scatter##c, Iscatter##c) COLLECTIVE(Scatterv##c, Iscatterv##c) \
  COLLECTIVE(Allgather##c, Iallgather##c) COLLECTIVE(Allgatherv##c, Iallgatherv##c) \
  COLLECTIVE(Alltoall##c, Ialltoall##c) COLLECTIVE(Alltoallv##c, Ialltoallv##c) \
  COLLECTIVE(Alltoallw##c, Ialltoallw##c) \
  REDUCTION(Reduce##c, Ireduce##c, 7, 3) REDUCTION(Allreduce##c, Iallreduce##c, 6, 2) \
  REDUCTION(Reduce_scatter##c, Ireduce_scatter##c, 6, 2) \
  REDUCTION(Reduce_scatter_block##c, Ireduce_scatter_block##c, 6, 2) \
  REDUCTION(Scan##c, Iscan##c, 6, 2) REDUCTION(Exscan##c, Iexscan##c, 6, 2) \
  COLLECTIVE(Neighbor_allgather##c, Ineighbor_allgather##c) \
  COLLECTIVE(Neighbor_allgatherv##c, Ineighbor_allgatherv##c) \
  EXCHANGE(Neighbor_alltoall##c, Ineighbor_alltoall##c, 6) \
  EXCHANGE(Neighbor_alltoallv##c, Ineighbor_alltoallv##c, 8) \
  EXCHANGE(Neighbor_alltoallw##c, Ineighbor_alltoallw##c, 8) \
  HELPED(Win_create##c, 4) HELPED(Win_allocate##c, 3) HELPED(Win_allocate_shared##c, 3) \
  FILE_CALL(File_read##c, File_iread##c) FILE_CALL(File_write##c, File_iwrite##c) \
  FILE_CALL(File_read_at##c, File_iread_at##c) FILE_CALL(File_write_at##c, File_iwrite_at##c) \
  FILE_COLLECTIVE(File_read_all##c, File_iread_all##c) \
  FILE_COLLECTIVE(File_write_all##c, File_iwrite_all##c) \
  FILE_COLLECTIVE(File_read_at_all##c, File_iread_at_all##c) \
  FILE_COLLECTIVE(File_write_at_all##c, File_iwrite_at_all##c) \
  FILE_CALL(File_read_shared##c, File_iread_shared##c) \
  FILE_CALL(File_write_shared##c, File_iwrite_shared##c) \
  HELPED(File_read_ordered##c, 0) HELPED(File_write_ordered##c, 0)
// clang-format on
