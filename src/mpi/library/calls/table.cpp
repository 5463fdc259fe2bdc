// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/table.h"

#include "mpi/library/calls/attempted.h"
#include "mpi/library/calls/completion.h"
#include "mpi/library/calls/helped.h"
#include "mpi/library/calls/sendrecv.h"
#include "mpi/library/calls/started.h"
#include "mpi/library/calls/tested.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/levels/levels.h"
#include "mpi/library/mpi.h"

namespace weft::mpi {

// A function by name, and what stands in its place.
#define ROW(name, ...) {"MPI_" #name, reinterpret_cast<void (*)()>(__VA_ARGS__)},
// Calls that have a non-blocking twin.
#define MESSAGE(name, twin) ROW(name, &Message<PMPI_##name, PMPI_##twin>::call)
#define COLLECTIVE(name, twin) ROW(name, &Collective<PMPI_##name, PMPI_##twin>::call)
// The operation is that many arguments before the end.
#define REDUCTION(name, twin, arguments, operation) \
  ROW(name, &Reduction<PMPI_##name, PMPI_##twin, (arguments) - (operation)>::call)
// What attempts it, and the place of its flag.
#define ATTEMPTED(name, attempt, flag) ROW(name, &Attempted<PMPI_##name, PMPI_##attempt, flag>::call)
#define TESTED(name, found) ROW(name, &Tested<PMPI_##name, found>::call)
// Calls for a helper, and the place of what they are ordered by.
#define HELPED(name, ordered_by) ROW(name, &Helped<PMPI_##name, ordered_by>::call)
#define IN_PLACE(name) ROW(name, &InPlace<PMPI_##name>::call)

#ifdef OPEN_MPI
// Seen with 4.1.4 and 5.0.11: a non-blocking read beyond the end of a file never completes, and between two neighbours
// that are the same rank the non-blocking exchanges swap what they bring. So helpers make these calls.
#define FILE_CALL(name, twin) HELPED(name, kUnordered)
#define FILE_COLLECTIVE(name, twin) HELPED(name, 0)
#define EXCHANGE(name, twin, ordered_by) HELPED(name, ordered_by)
#else
#define FILE_CALL(name, twin) ROW(name, &Started<PMPI_##name, PMPI_##twin, Alone, File>::call)
#define FILE_COLLECTIVE(name, twin) ROW(name, &Started<PMPI_##name, PMPI_##twin, Together, File>::call)
#define EXCHANGE(name, twin, ordered_by) WITH_LARGE(COLLECTIVE, name, twin)
#endif
// Both have versions for large counts.
#if MPI_VERSION >= 4
#define WITH_LARGE(row, name, twin) row(name, twin) row(name##_c, twin##_c)
#define REDUCTION_WITH_LARGE(name, twin, arguments, operation) \
  REDUCTION(name, twin, arguments, operation) REDUCTION(name##_c, twin##_c, arguments, operation)
#define HELPED_WITH_LARGE(name, ordered_by) HELPED(name, ordered_by) HELPED(name##_c, ordered_by)
#else
#define WITH_LARGE(row, name, twin) row(name, twin)
#define REDUCTION_WITH_LARGE REDUCTION
#define HELPED_WITH_LARGE HELPED
#endif

#if MPI_VERSION >= 4
using SendrecvLarge = Sendrecv<MPI_Count, PMPI_Sendrecv_c, PMPI_Isend_c, PMPI_Irecv_c>;
#endif

// clang-format off
const Replacement kRows[] = {
  ROW(Init, &init) ROW(Init_thread, &init_thread) ROW(Finalize, &finalize)
  ROW(Query_thread, &query_thread) ROW(Is_thread_main, &is_thread_main)

  WITH_LARGE(MESSAGE, Send, Isend) WITH_LARGE(MESSAGE, Ssend, Issend) WITH_LARGE(MESSAGE, Rsend, Irsend)
  WITH_LARGE(MESSAGE, Bsend, Ibsend) WITH_LARGE(MESSAGE, Recv, Irecv)
  ROW(Mrecv, &Started<PMPI_Mrecv, PMPI_Imrecv, Alone, Request>::call)
  ROW(Sendrecv, &SendrecvInt::call) ROW(Sendrecv_replace, &SendrecvReplaceInt::call)
  ATTEMPTED(Probe, Iprobe, 3) ATTEMPTED(Mprobe, Improbe, 3)
  HELPED_WITH_LARGE(Buffer_detach, kUnordered)

  ROW(Wait, &wait) ROW(Waitall, &waitall) ATTEMPTED(Waitany, Testany, 3) ROW(Waitsome, &waitsome)
  TESTED(Test, 1) TESTED(Testall, 2) TESTED(Testany, 3) TESTED(Testsome, 2) TESTED(Request_get_status, 1)
  TESTED(Iprobe, 3) TESTED(Improbe, 3)

  COLLECTIVE(Barrier, Ibarrier) WITH_LARGE(COLLECTIVE, Bcast, Ibcast)
  WITH_LARGE(COLLECTIVE, Gather, Igather) WITH_LARGE(COLLECTIVE, Gatherv, Igatherv)
  WITH_LARGE(COLLECTIVE, Scatter, Iscatter) WITH_LARGE(COLLECTIVE, Scatterv, Iscatterv)
  WITH_LARGE(COLLECTIVE, Allgather, Iallgather) WITH_LARGE(COLLECTIVE, Allgatherv, Iallgatherv)
  WITH_LARGE(COLLECTIVE, Alltoall, Ialltoall) WITH_LARGE(COLLECTIVE, Alltoallv, Ialltoallv)
  WITH_LARGE(COLLECTIVE, Alltoallw, Ialltoallw)
  REDUCTION_WITH_LARGE(Reduce, Ireduce, 7, 3) REDUCTION_WITH_LARGE(Allreduce, Iallreduce, 6, 2)
  REDUCTION_WITH_LARGE(Reduce_scatter, Ireduce_scatter, 6, 2)
  REDUCTION_WITH_LARGE(Reduce_scatter_block, Ireduce_scatter_block, 6, 2)
  REDUCTION_WITH_LARGE(Scan, Iscan, 6, 2) REDUCTION_WITH_LARGE(Exscan, Iexscan, 6, 2)
  WITH_LARGE(COLLECTIVE, Neighbor_allgather, Ineighbor_allgather)
  WITH_LARGE(COLLECTIVE, Neighbor_allgatherv, Ineighbor_allgatherv)
  EXCHANGE(Neighbor_alltoall, Ineighbor_alltoall, 6) EXCHANGE(Neighbor_alltoallv, Ineighbor_alltoallv, 8)
  EXCHANGE(Neighbor_alltoallw, Ineighbor_alltoallw, 8)

  ROW(Comm_dup, &Started<PMPI_Comm_dup, PMPI_Comm_idup, Together, Communicator<0>>::call)
  HELPED(Comm_dup_with_info, 0) HELPED(Comm_split, 0) HELPED(Comm_split_type, 0) HELPED(Comm_create, 0)
  HELPED(Comm_create_group, 0) HELPED(Cart_create, 0) HELPED(Cart_sub, 0) HELPED(Graph_create, 0)
  HELPED(Dist_graph_create, 0) HELPED(Dist_graph_create_adjacent, 0) HELPED(Intercomm_create, 0)
  HELPED(Intercomm_merge, 0) HELPED(Comm_spawn, 5) HELPED(Comm_spawn_multiple, 6) HELPED(Comm_accept, 3)
  HELPED(Comm_connect, 3) HELPED(Comm_disconnect, kUnordered) HELPED(Comm_join, kUnordered)
  IN_PLACE(Comm_free) IN_PLACE(Comm_set_attr) IN_PLACE(Comm_delete_attr)
  ROW(Comm_set_errhandler, &set_handler) ROW(Comm_get_errhandler, &get_handler)
  ROW(Comm_create_errhandler, &create_handler)

  // Other tasks may have to unlock before a lock is given: no order but that of the tasks.
  HELPED_WITH_LARGE(Win_create, 4) HELPED_WITH_LARGE(Win_allocate, 3) HELPED_WITH_LARGE(Win_allocate_shared, 3)
  HELPED(Win_create_dynamic, 1) HELPED(Win_free, kUnordered) HELPED(Win_fence, 1)
  HELPED(Win_start, kUnordered) HELPED(Win_complete, kUnordered) ATTEMPTED(Win_wait, Win_test, 1) TESTED(Win_test, 1)
  HELPED(Win_lock, kUnordered) HELPED(Win_lock_all, kUnordered) HELPED(Win_unlock, kUnordered)
  HELPED(Win_unlock_all, kUnordered) HELPED(Win_flush, kUnordered) HELPED(Win_flush_all, kUnordered)
  HELPED(Win_flush_local, kUnordered) HELPED(Win_flush_local_all, kUnordered)

  HELPED(File_open, 0) HELPED(File_close, kUnordered) HELPED(File_set_size, 0) HELPED(File_preallocate, 0)
  HELPED(File_sync, 0) HELPED(File_set_view, 0) HELPED(File_seek_shared, 0)
  WITH_LARGE(FILE_CALL, File_read, File_iread) WITH_LARGE(FILE_CALL, File_write, File_iwrite)
  WITH_LARGE(FILE_CALL, File_read_at, File_iread_at) WITH_LARGE(FILE_CALL, File_write_at, File_iwrite_at)
  WITH_LARGE(FILE_COLLECTIVE, File_read_all, File_iread_all)
  WITH_LARGE(FILE_COLLECTIVE, File_write_all, File_iwrite_all)
  WITH_LARGE(FILE_COLLECTIVE, File_read_at_all, File_iread_at_all)
  WITH_LARGE(FILE_COLLECTIVE, File_write_at_all, File_iwrite_at_all)
  WITH_LARGE(FILE_CALL, File_read_shared, File_iread_shared)
  WITH_LARGE(FILE_CALL, File_write_shared, File_iwrite_shared)
  HELPED_WITH_LARGE(File_read_ordered, 0) HELPED_WITH_LARGE(File_write_ordered, 0)
  HELPED(File_read_all_end, 0) HELPED(File_write_all_end, 0) HELPED(File_read_at_all_end, 0)
  HELPED(File_write_at_all_end, 0) HELPED(File_read_ordered_end, 0) HELPED(File_write_ordered_end, 0)

#if MPI_VERSION >= 4
  ROW(Session_init, &session_init)
  ROW(Mrecv_c, &Started<PMPI_Mrecv_c, PMPI_Imrecv_c, Alone, Request>::call)
  ROW(Sendrecv_c, &SendrecvLarge::call)
  ROW(Sendrecv_replace_c, &SendrecvReplace<MPI_Count, PMPI_Sendrecv_replace_c, PMPI_Pack_size_c, PMPI_Pack_c,
                                           SendrecvLarge>::call)
  TESTED(Parrived, 2)
#endif
};
// clang-format on

const Replacements kReplacements{kRows, sizeof kRows / sizeof *kRows};

}  // namespace weft::mpi
