// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/fortran/table.h"

#include "mpi/library/fortran/calls.h"
#include "mpi/library/fortran/completion.h"

namespace weft::mpi {

using namespace fortran;

// A routine by name, and what stands in its place.
#define ROW(name, ...) {"mpi_" name, reinterpret_cast<void (*)()>(__VA_ARGS__)},
#define SHAPED(name, ...) ROW(name, &Shaped<__VA_ARGS__>::call)
// How many arguments it has but the error, and what starts it with how many of them and a request.
#define STARTED(name, arguments, start, shared, which) \
  SHAPED(name, fortran::Started<"pmpi_" name "_", "pmpi_" start "_", arguments, shared, which>)
#define MESSAGE(name, arguments, start, shared) STARTED(name, arguments, start, shared, Alone)
#define COLLECTIVE(name, arguments) SHAPED(name, fortran::Collective<"pmpi_" name "_", "pmpi_i" name "_", arguments>)
#define REDUCTION(name, arguments, operation) \
  SHAPED(name, fortran::Reduction<"pmpi_" name "_", "pmpi_i" name "_", arguments, operation>)
#define ATTEMPTED(name, arguments, attempt, flag) \
  SHAPED(name, fortran::Attempted<"pmpi_" name "_", "pmpi_" attempt "_", arguments, flag>)
#define TESTED(name, arguments, found) SHAPED(name, fortran::Tested<"pmpi_" name "_", arguments, found>)
#define HELPED(name, arguments, ...) SHAPED(name, fortran::Helped<"pmpi_" name "_", arguments, __VA_ARGS__>)
#define HELPED_WITH_TEXTS(name, arguments, texts, ...) \
  ROW(name, &fortran::HelpedWithTexts<"pmpi_" name "_", arguments, texts, __VA_ARGS__>::call)
#define IN_PLACE(name, arguments) SHAPED(name, fortran::InPlace<"pmpi_" name "_", arguments>)

// clang-format off
static const Replacement kRows[] = {
  ROW("init", &fortran::init) ROW("init_thread", &fortran::init_thread) ROW("finalize", &fortran::finalize)
  ROW("query_thread", &fortran::query_thread) ROW("is_thread_main", &fortran::is_thread_main)

  MESSAGE("send", 6, "isend", 6) MESSAGE("ssend", 6, "issend", 6) MESSAGE("rsend", 6, "irsend", 6)
  MESSAGE("bsend", 6, "ibsend", 6) MESSAGE("recv", 7, "irecv", 6) MESSAGE("mrecv", 5, "imrecv", 4)
  ROW("sendrecv", &fortran::sendrecv)
  ROW("sendrecv_replace", &fortran::sendrecv_replace)
  ATTEMPTED("probe", 4, "iprobe", 3) ATTEMPTED("mprobe", 5, "improbe", 3)

  ROW("wait", &fortran::wait) ROW("waitall", &fortran::waitall) ROW("waitsome", &fortran::waitsome)
  ATTEMPTED("waitany", 4, "testany", 3)
  TESTED("test", 3, 1) TESTED("testall", 4, 2) TESTED("testany", 5, 3) TESTED("testsome", 5, 2)
  TESTED("iprobe", 5, 3) TESTED("improbe", 6, 3) TESTED("request_get_status", 3, 1)

  COLLECTIVE("barrier", 1) COLLECTIVE("bcast", 5) COLLECTIVE("gather", 8) COLLECTIVE("gatherv", 9)
  COLLECTIVE("scatter", 8) COLLECTIVE("scatterv", 9) COLLECTIVE("allgather", 7) COLLECTIVE("allgatherv", 8)
  COLLECTIVE("alltoall", 7) COLLECTIVE("alltoallv", 9) COLLECTIVE("alltoallw", 9)
  REDUCTION("reduce", 7, 4) REDUCTION("allreduce", 6, 4) REDUCTION("reduce_scatter", 6, 4)
  REDUCTION("reduce_scatter_block", 6, 4) REDUCTION("scan", 6, 4) REDUCTION("exscan", 6, 4)
  COLLECTIVE("neighbor_allgather", 7) COLLECTIVE("neighbor_allgatherv", 8)
  // As calls/table.cpp says of these and of files.
  HELPED("neighbor_alltoall", 7, ByCommunicator<6>)
  HELPED("neighbor_alltoallv", 9, ByCommunicator<8>)
  HELPED("neighbor_alltoallw", 9, ByCommunicator<8>)

  ROW("comm_dup", &fortran::comm_dup)
  HELPED("comm_split", 4, ByCommunicator<0>) HELPED("comm_create", 3, ByCommunicator<0>)
  HELPED("cart_create", 6, ByCommunicator<0>) HELPED("cart_sub", 3, ByCommunicator<0>)
  HELPED("graph_create", 6, ByCommunicator<0>) HELPED("intercomm_create", 6, ByCommunicator<0>)
  ROW("intercomm_merge", &fortran::intercomm_merge) IN_PLACE("comm_free", 1)
  HELPED("comm_split_type", 5, ByCommunicator<0>) HELPED("comm_create_group", 4, ByCommunicator<0>)
  HELPED("dist_graph_create", 9, ByCommunicator<0>) HELPED("dist_graph_create_adjacent", 10, ByCommunicator<0>)
  HELPED("comm_disconnect", 1, Unordered)
  HELPED_WITH_TEXTS("comm_spawn", 8, 2, ByCommunicator<5>)
  HELPED_WITH_TEXTS("comm_spawn_multiple", 9, 2, ByCommunicator<6>)
  HELPED_WITH_TEXTS("comm_accept", 5, 1, ByCommunicator<3>)
  HELPED_WITH_TEXTS("comm_connect", 5, 1, ByCommunicator<3>)

  HELPED("win_free", 1, Unordered) HELPED("win_fence", 2, ByWindow<1>) HELPED("win_start", 3, Unordered)
  HELPED("win_complete", 1, Unordered) ATTEMPTED("win_wait", 1, "win_test", 1)
  HELPED("win_lock", 4, Unordered) HELPED("win_lock_all", 2, Unordered) HELPED("win_unlock", 2, Unordered)
  HELPED("win_unlock_all", 1, Unordered) HELPED("win_flush", 2, Unordered) HELPED("win_flush_all", 1, Unordered)
  HELPED("win_flush_local", 2, Unordered) HELPED("win_flush_local_all", 1, Unordered)

  HELPED_WITH_TEXTS("file_open", 5, 1, ByCommunicator<0>) HELPED_WITH_TEXTS("file_set_view", 6, 1, ByFile<0>)
  HELPED("file_close", 1, Unordered) HELPED("file_sync", 1, ByFile<0>) HELPED("file_set_size", 2, ByFile<0>)
  HELPED("file_preallocate", 2, ByFile<0>) HELPED("file_seek_shared", 3, ByFile<0>)
  HELPED("file_read_shared", 5, Unordered) HELPED("file_write_shared", 5, Unordered)
  HELPED("file_read_ordered", 5, ByFile<0>) HELPED("file_write_ordered", 5, ByFile<0>)
  HELPED("file_read_all_end", 3, ByFile<0>) HELPED("file_write_all_end", 3, ByFile<0>)
  HELPED("file_read_at_all_end", 3, ByFile<0>) HELPED("file_write_at_all_end", 3, ByFile<0>)
  HELPED("file_read_ordered_end", 3, ByFile<0>) HELPED("file_write_ordered_end", 3, ByFile<0>)
  HELPED("file_read", 5, Unordered) HELPED("file_write", 5, Unordered)
  HELPED("file_read_at", 6, Unordered) HELPED("file_write_at", 6, Unordered)
  HELPED("file_read_all", 5, ByFile<0>)
  HELPED("file_write_all", 5, ByFile<0>)
  HELPED("file_read_at_all", 6, ByFile<0>)
  HELPED("file_write_at_all", 6, ByFile<0>)
};
// clang-format on

const Replacements kFortranReplacements{kRows, sizeof kRows / sizeof *kRows};

}  // namespace weft::mpi
