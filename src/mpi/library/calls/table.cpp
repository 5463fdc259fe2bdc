// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/table.h"

#include "mpi/library/calls/completion.h"
#include "mpi/library/calls/rows.h"
#include "mpi/library/calls/worlds.h"
#include "mpi/library/diagnostics/names.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/levels/levels.h"
#include "mpi/library/mpi.h"

namespace weft::mpi {

// clang-format off
const Replacement kRows[] = {
  ROWS_OF_BOTH()
  ROW(Init, &init) ROW(Init_thread, &init_thread) ROW(Finalize, &finalize)
  ROW(Query_thread, &query_thread) ROW(Is_thread_main, &is_thread_main)

  ROW(Sendrecv, &SendrecvInt::call) ROW(Sendrecv_replace, &SendrecvReplaceInt::call)
  ATTEMPTED(Probe, Iprobe, 3) ATTEMPTED(Mprobe, Improbe, 3)

  ROW(Wait, &wait) ROW(Waitall, &waitall) ROW(Waitany, &waitany) ROW(Waitsome, &waitsome)
  TESTED(Test, 1) TESTED(Testall, 2) TESTED(Testany, 3) TESTED(Testsome, 2) TESTED(Request_get_status, 1)
  TESTED(Iprobe, 3) TESTED(Improbe, 3)

  COLLECTIVE(Barrier, Ibarrier)
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
  HELPED(Win_create_dynamic, 1) HELPED(Win_free, kUnordered) HELPED(Win_fence, 1)
  HELPED(Win_start, kUnordered) HELPED(Win_complete, kUnordered) ATTEMPTED(Win_wait, Win_test, 1) TESTED(Win_test, 1)
  HELPED(Win_lock, kUnordered) HELPED(Win_lock_all, kUnordered) HELPED(Win_unlock, kUnordered)
  HELPED(Win_unlock_all, kUnordered) HELPED(Win_flush, kUnordered) HELPED(Win_flush_all, kUnordered)
  HELPED(Win_flush_local, kUnordered) HELPED(Win_flush_local_all, kUnordered)

  HELPED(File_open, 0) HELPED(File_close, kUnordered) HELPED(File_set_size, 0) HELPED(File_preallocate, 0)
  HELPED(File_sync, 0) HELPED(File_set_view, 0) HELPED(File_seek_shared, 0)
  HELPED(File_read_all_end, 0) HELPED(File_write_all_end, 0) HELPED(File_read_at_all_end, 0)
  HELPED(File_write_at_all_end, 0) HELPED(File_read_ordered_end, 0) HELPED(File_write_ordered_end, 0)
};
// clang-format on

const Replacements kReplacements{kRows, sizeof kRows / sizeof *kRows};

}  // namespace weft::mpi
