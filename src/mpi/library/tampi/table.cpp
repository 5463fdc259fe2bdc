// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/tampi/table.h"

#include "mpi/library/mpi.h"
#ifndef MPI_ABI_VERSION
#include "mpi/library/tampi/fortran.h"
#endif
#include "mpi/library/tampi/tampi.h"

namespace weft::mpi {

#define ROW(name, ...) {name, reinterpret_cast<void (*)()>(__VA_ARGS__)},
#define REQUESTED(name, arguments) ROW("tampi_" name "_", &Requested<"pmpi_" name "_", arguments>::call)
#define WITHOUT_REQUEST(name) ROW("TAMPI_" #name, &WithoutRequest<PMPI_##name>::Of::call)

// clang-format off
static const Replacement kRows[] = {
  ROW("weft_mpi_detach", &detach_event) ROW("weft_mpi_detach_all", &detach_event_all)

  ROW("TAMPI_Init", &tampi_init) ROW("TAMPI_Finalize", &tampi_finalize)
  ROW("TAMPI_Property_get", &tampi_property_get) ROW("TAMPI_Property_set", &tampi_property_set)
  ROW("TAMPI_Blocking_enabled", &tampi_enabled) ROW("TAMPI_Nonblocking_enabled", &tampi_enabled)
  ROW("TAMPI_Iwait", &iwait) ROW("TAMPI_Iwaitall", &iwaitall)
#ifndef MPI_ABI_VERSION
  // The standard's ABI says nothing of Fortran's statuses.
  ROW("tampi_iwait_", &iwait_fortran) ROW("tampi_iwaitall_", &iwaitall_fortran)

  ROW("tampi_init_", &tampi_init_fortran) ROW("tampi_finalize_", &tampi_finalize_fortran)
  ROW("tampi_property_get_", &tampi_property_get_fortran) ROW("tampi_property_set_", &tampi_property_set_fortran)
  REQUESTED("isend", 6) REQUESTED("ibsend", 6) REQUESTED("irsend", 6) REQUESTED("issend", 6)
  ROW("tampi_irecv_", &Requested<"pmpi_irecv_", 6>::call_with_status)
  REQUESTED("iallgather", 7) REQUESTED("iallgatherv", 8) REQUESTED("iallreduce", 6) REQUESTED("ialltoall", 7)
  REQUESTED("ialltoallv", 9) REQUESTED("ialltoallw", 9) REQUESTED("ibarrier", 1) REQUESTED("ibcast", 5)
  REQUESTED("igather", 8) REQUESTED("igatherv", 9) REQUESTED("ireduce", 7) REQUESTED("ireduce_scatter", 6)
  REQUESTED("ireduce_scatter_block", 6) REQUESTED("iscatter", 8) REQUESTED("iscatterv", 9) REQUESTED("iscan", 6)
  REQUESTED("iexscan", 6)
#endif

  WITHOUT_REQUEST(Isend) WITHOUT_REQUEST(Ibsend) WITHOUT_REQUEST(Irsend) WITHOUT_REQUEST(Issend)
  ROW("TAMPI_Irecv", &WithoutRequest<PMPI_Irecv>::Of::call_with_status)
  WITHOUT_REQUEST(Iallgather) WITHOUT_REQUEST(Iallgatherv) WITHOUT_REQUEST(Iallreduce) WITHOUT_REQUEST(Ialltoall)
  WITHOUT_REQUEST(Ialltoallv) WITHOUT_REQUEST(Ialltoallw) WITHOUT_REQUEST(Ibarrier) WITHOUT_REQUEST(Ibcast)
  WITHOUT_REQUEST(Igather) WITHOUT_REQUEST(Igatherv) WITHOUT_REQUEST(Ireduce) WITHOUT_REQUEST(Ireduce_scatter)
  WITHOUT_REQUEST(Ireduce_scatter_block) WITHOUT_REQUEST(Iscatter) WITHOUT_REQUEST(Iscatterv) WITHOUT_REQUEST(Iscan)
  WITHOUT_REQUEST(Iexscan)
};
// clang-format on

const Replacements kTampiReplacements{kRows, sizeof kRows / sizeof *kRows};

}  // namespace weft::mpi
