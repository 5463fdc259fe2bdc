// SPDX-License-Identifier: Apache-2.0
#include "mpi/link.h"

#include <cstdio>

#include "base/message.h"
#include "mpi/library/calls/table.h"
#include "mpi/library/fortran/table.h"
#include "mpi/library/inside.h"
#include "mpi/library/mpi.h"
#include "mpi/library/tampi/table.h"

namespace weft::mpi {

namespace {

// MPIs of a family keep their ABI, by their own promise, within what the mark of the shared object says.
bool fits() noexcept {
#ifdef OPEN_MPI
  constexpr int kLeast = 4;
  constexpr char kFamily[] = "Open MPI v%d";
#else
  constexpr int kLeast = 3;
  constexpr char kFamily[] = "MPICH Version: %d";
#endif
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(version, &length);
  int major = kLeast;
  // Others that share MPICH's ABI have versions of their own.
  std::sscanf(version, kFamily, &major);
  if (major >= kLeast) return true;
  base::warn("mpi: %.40s is too old; MPI runs without weft", version);
  return false;
}

const Replacements kLists[] = {
    kReplacements,
    kTampiReplacements,
#ifdef OPEN_MPI
    // MPICH's Fortran routines call the functions of C.
    kFortranReplacements,
#endif
};

bool is_testing() noexcept { return t_testing != 0; }

}  // namespace

}  // namespace weft::mpi

extern "C" [[gnu::visibility("default")]] const weft::mpi::Link weft_mpi_link;
const weft::mpi::Link weft_mpi_link{.layout = weft::mpi::kLinkLayout,
                                    .fits = weft::mpi::fits,
                                    .testing = weft::mpi::is_testing,
                                    .lists = weft::mpi::kLists,
                                    .count = sizeof weft::mpi::kLists / sizeof *weft::mpi::kLists};
