// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/table.h"

#include "mpi/library/calls/completion.h"
#include "mpi/library/calls/rows.h"
#include "mpi/library/calls/worlds.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/levels/levels.h"
#include "mpi/library/mpi.h"
#include "mpi/library/waits/names.h"

namespace weft::mpi {

// clang-format off
const Replacement kRows[] = {
  ROW(Init, &init) ROW(Init_thread, &init_thread) ROW(Finalize, &finalize)
  ROW(Query_thread, &query_thread) ROW(Is_thread_main, &is_thread_main)

  MESSAGE(Send, Isend) MESSAGE(Ssend, Issend) MESSAGE(Rsend, Irsend)
  MESSAGE(Bsend, Ibsend) MESSAGE(Recv, Irecv)
  ROW(Mrecv, &Started<PMPI_Mrecv, PMPI_Imrecv, Alone, Request>::call)
  ROW(Sendrecv, &SendrecvInt::call) ROW(Sendrecv_replace, &SendrecvReplaceInt::call)
  ATTEMPTED(Probe, Iprobe, 3) ATTEMPTED(Mprobe, Improbe, 3)
  HELPED(Buffer_detach, kUnordered)

  ROW(Wait, &wait) ROW(Waitall, &waitall) ROW(Waitany, &waitany) ROW(Waitsome, &waitsome)
  TESTED(Test, 1) TESTED(Testall, 2) TESTED(Testany, 3) TESTED(Testsome, 2) TESTED(Request_get_status, 1)
  TESTED(Iprobe, 3) TESTED(Improbe, 3)

  COLLECTIVE(Barrier, Ibarrier) COLLECTIVE(Bcast, Ibcast)
  COLLECTIVE(Gather, Igather) COLLECTIVE(Gatherv, Igatherv)
  COLLECTIVE(Scatter, Iscatter) COLLECTIVE(Scatterv, Iscatterv)
  COLLECTIVE(Allgather, Iallgather) COLLECTIVE(Allgatherv, Iallgatherv)
  COLLECTIVE(Alltoall, Ialltoall) COLLECTIVE(Alltoallv, Ialltoallv)
  COLLECTIVE(Alltoallw, Ialltoallw)
  REDUCTION(Reduce, Ireduce, 7, 3) REDUCTION(Allreduce, Iallreduce, 6, 2)
  REDUCTION(Reduce_scatter, Ireduce_scatter, 6, 2)
  REDUCTION(Reduce_scatter_block, Ireduce_scatter_block, 6, 2)
  REDUCTION(Scan, Iscan, 6, 2) REDUCTION(Exscan, Iexscan, 6, 2)
  COLLECTIVE(Neighbor_allgather, Ineighbor_allgather)
  COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv)
  EXCHANGE(Neighbor_alltoall, Ineighbor_alltoall, 6) EXCHANGE(Neighbor_alltoallv, Ineighbor_alltoallv, 8)
  EXCHANGE(Neighbor_alltoallw, Ineighbor_alltoallw, 8)

  ROW(Comm_dup, &Collective<PMPI_Comm_dup, PMPI_Comm_idup, 0>::call)
  HELPED(Comm_dup_with_info, 0) HELPED(Comm_split, 0) HELPED(Comm_split_type, 0) HELPED(Comm_create, 0)
  HELPED(Comm_create_group, 0) HELPED(Cart_create, 0) HELPED(Cart_sub, 0) HELPED(Graph_create, 0)
  HELPED(Dist_graph_create, 0) HELPED(Dist_graph_create_adjacent, 0) HELPED(Intercomm_create, 0)
  ROW(Intercomm_merge, &intercomm_merge) HELPED(Comm_spawn, 5) HELPED(Comm_spawn_multiple, 6) HELPED(Comm_accept, 3)
  HELPED(Comm_connect, 3) ROW(Comm_disconnect, &disconnect_communicator) HELPED(Comm_join, kUnordered)
  ROW(Comm_free, &free_communicator) ROW(Comm_set_name, &set_name) IN_PLACE(Comm_set_attr) IN_PLACE(Comm_delete_attr)
  ROW(Comm_set_errhandler, &set_handler) ROW(Comm_get_errhandler, &get_handler)
  ROW(Comm_create_errhandler, &create_handler)

  // Other tasks may have to unlock before a lock is given: no order but that of the tasks.
  HELPED(Win_create, 4) HELPED(Win_allocate, 3) HELPED(Win_allocate_shared, 3)
  HELPED(Win_create_dynamic, 1) HELPED(Win_free, kUnordered) HELPED(Win_fence, 1)
  HELPED(Win_start, kUnordered) HELPED(Win_complete, kUnordered) ATTEMPTED(Win_wait, Win_test, 1) TESTED(Win_test, 1)
  HELPED(Win_lock, kUnordered) HELPED(Win_lock_all, kUnordered) HELPED(Win_unlock, kUnordered)
  HELPED(Win_unlock_all, kUnordered) HELPED(Win_flush, kUnordered) HELPED(Win_flush_all, kUnordered)
  HELPED(Win_flush_local, kUnordered) HELPED(Win_flush_local_all, kUnordered)

  HELPED(File_open, 0) HELPED(File_close, kUnordered) HELPED(File_set_size, 0) HELPED(File_preallocate, 0)
  HELPED(File_sync, 0) HELPED(File_set_view, 0) HELPED(File_seek_shared, 0)
  FILE_CALL(File_read, File_iread) FILE_CALL(File_write, File_iwrite)
  FILE_CALL(File_read_at, File_iread_at) FILE_CALL(File_write_at, File_iwrite_at)
  FILE_COLLECTIVE(File_read_all, File_iread_all)
  FILE_COLLECTIVE(File_write_all, File_iwrite_all)
  FILE_COLLECTIVE(File_read_at_all, File_iread_at_all)
  FILE_COLLECTIVE(File_write_at_all, File_iwrite_at_all)
  FILE_CALL(File_read_shared, File_iread_shared)
  FILE_CALL(File_write_shared, File_iwrite_shared)
  HELPED(File_read_ordered, 0) HELPED(File_write_ordered, 0)
  HELPED(File_read_all_end, 0) HELPED(File_write_all_end, 0) HELPED(File_read_at_all_end, 0)
  HELPED(File_write_at_all_end, 0) HELPED(File_read_ordered_end, 0) HELPED(File_write_ordered_end, 0)
};
// clang-format on

const Replacements kReplacements{kRows, sizeof kRows / sizeof *kRows};

}  // namespace weft::mpi
