// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/start.h"

#include "base/message.h"
#include "coll/profiling/communicator.h"
#include "coll/profiling/family.h"
#include "mpi/meeting.h"

namespace weft::coll {

namespace {

constexpr mpi::MeetingTexts kTexts{.part = "coll",
                                   .file = "/libweft-coll.so",
                                   .name = "weft's collectives",
                                   .option = "weft run --collectives",
                                   .tag = 32702};

// Why weft takes no part in the job, of any rank; the greatest counts.
enum { kNone, kFailures, kFortran };

constexpr const char* kReasons[] = {"", "ranks may fail here and the others go on (mpi_ft_enable)",
                                    "weft does not know the Fortran routines of this Open MPI"};

int find_obstacle() noexcept {
  if (has_unknown_fortran()) return kFortran;
  return goes_on_without_ranks() ? kFailures : kNone;
}

}  // namespace

int started(int code) noexcept {
  // The component sees to it that ranks without weft go on with MPI's own.
  if (code != MPI_SUCCESS || has_component()) return code;
  const int obstacle = mpi::Meeting<ProcessMpi>(g_mpi, kTexts).meet(find_obstacle());
  if (obstacle == kNone) {
    begin_world();
    return code;
  }
  leave_world();
  int rank = 0;
  if (g_mpi.Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0) {
    base::warn("coll: %s; MPI runs without weft's collectives", kReasons[obstacle]);
  }
  return code;
}

int call_init(int* argc, char*** argv) noexcept { return started(g_mpi.next_init(argc, argv)); }

int call_init_thread(int* argc, char*** argv, int required, int* provided) noexcept {
  return started(g_mpi.next_init_thread(argc, argv, required, provided));
}

}  // namespace weft::coll
