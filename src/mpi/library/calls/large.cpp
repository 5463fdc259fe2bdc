// SPDX-License-Identifier: Apache-2.0
// The calls whose counts are of the type MPI_Count. Their names end with _c.
#include "mpi/library/calls/rows.h"
#include "mpi/library/calls/table.h"

#ifdef WEFT_MPI_HAS_LARGE_COUNTS

namespace weft::mpi {

using SendrecvCount = Sendrecv<MPI_Count, PMPI_Sendrecv_c, PMPI_Isend_c, PMPI_Irecv_c>;
using SendrecvReplaceCount =
    SendrecvReplace<MPI_Count, PMPI_Sendrecv_replace_c, PMPI_Pack_size_c, PMPI_Pack_c, SendrecvCount>;

// clang-format off
static const Replacement kRows[] = {
  MESSAGE(Send_c, Isend_c) MESSAGE(Ssend_c, Issend_c) MESSAGE(Rsend_c, Irsend_c)
  MESSAGE(Bsend_c, Ibsend_c) MESSAGE(Recv_c, Irecv_c)
  ROW(Mrecv_c, &Started<PMPI_Mrecv_c, PMPI_Imrecv_c, Alone, Request>::call)
  ROW(Sendrecv_c, &SendrecvCount::call) ROW(Sendrecv_replace_c, &SendrecvReplaceCount::call)
  HELPED(Buffer_detach_c, kUnordered)

  COLLECTIVE(Bcast_c, Ibcast_c)
  COLLECTIVE(Gather_c, Igather_c) COLLECTIVE(Gatherv_c, Igatherv_c)
  COLLECTIVE(Scatter_c, Iscatter_c) COLLECTIVE(Scatterv_c, Iscatterv_c)
  COLLECTIVE(Allgather_c, Iallgather_c) COLLECTIVE(Allgatherv_c, Iallgatherv_c)
  COLLECTIVE(Alltoall_c, Ialltoall_c) COLLECTIVE(Alltoallv_c, Ialltoallv_c)
  COLLECTIVE(Alltoallw_c, Ialltoallw_c)
  REDUCTION(Reduce_c, Ireduce_c, 7, 3) REDUCTION(Allreduce_c, Iallreduce_c, 6, 2)
  REDUCTION(Reduce_scatter_c, Ireduce_scatter_c, 6, 2)
  REDUCTION(Reduce_scatter_block_c, Ireduce_scatter_block_c, 6, 2)
  REDUCTION(Scan_c, Iscan_c, 6, 2) REDUCTION(Exscan_c, Iexscan_c, 6, 2)
  COLLECTIVE(Neighbor_allgather_c, Ineighbor_allgather_c)
  COLLECTIVE(Neighbor_allgatherv_c, Ineighbor_allgatherv_c)
  EXCHANGE(Neighbor_alltoall_c, Ineighbor_alltoall_c, 6)
  EXCHANGE(Neighbor_alltoallv_c, Ineighbor_alltoallv_c, 8)
  EXCHANGE(Neighbor_alltoallw_c, Ineighbor_alltoallw_c, 8)

  HELPED(Win_create_c, 4) HELPED(Win_allocate_c, 3) HELPED(Win_allocate_shared_c, 3)

  FILE_CALL(File_read_c, File_iread_c) FILE_CALL(File_write_c, File_iwrite_c)
  FILE_CALL(File_read_at_c, File_iread_at_c) FILE_CALL(File_write_at_c, File_iwrite_at_c)
  FILE_COLLECTIVE(File_read_all_c, File_iread_all_c)
  FILE_COLLECTIVE(File_write_all_c, File_iwrite_all_c)
  FILE_COLLECTIVE(File_read_at_all_c, File_iread_at_all_c)
  FILE_COLLECTIVE(File_write_at_all_c, File_iwrite_at_all_c)
  FILE_CALL(File_read_shared_c, File_iread_shared_c)
  FILE_CALL(File_write_shared_c, File_iwrite_shared_c)
  HELPED(File_read_ordered_c, 0) HELPED(File_write_ordered_c, 0)
};
// clang-format on

const Replacements kLargeReplacements{kRows, sizeof kRows / sizeof *kRows};

}  // namespace weft::mpi

#endif
