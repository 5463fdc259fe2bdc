// SPDX-License-Identifier: Apache-2.0
#include "mpi/link.h"

#include <cstdio>
#include <cstring>

#include "base/message.h"
#include "mpi/library/calls/table.h"
#include "mpi/library/fortran/table.h"
#include "mpi/library/helper/nap.h"
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
  // Some go on with lines about how they were built.
  base::warn("mpi: %.*s is too old; MPI runs without weft", static_cast<int>(std::strcspn(version, ",\n")), version);
  return false;
}

const Replacements kLists[] = {
    kReplacements,
#ifdef WEFT_MPI_HAS_LARGE_COUNTS
    kLargeReplacements,
#endif
    kTampiReplacements,
#ifdef OPEN_MPI
    // MPICH's Fortran routines call the functions of C.
    kFortranReplacements,
#endif
};

// A test comes back at once, and a helper has no other work to let run.
bool yield() noexcept { return t_testing != 0 || nap_in_helper(); }

}  // namespace

}  // namespace weft::mpi

extern "C" [[gnu::visibility("default")]] const weft::mpi::Link weft_mpi_link;
const weft::mpi::Link weft_mpi_link{.layout = weft::mpi::kLinkLayout,
                                    .fits = weft::mpi::fits,
                                    .yield = weft::mpi::yield,
                                    .lists = weft::mpi::kLists,
                                    .count = sizeof weft::mpi::kLists / sizeof *weft::mpi::kLists};
