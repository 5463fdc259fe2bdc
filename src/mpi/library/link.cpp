// SPDX-License-Identifier: Apache-2.0
#include "mpi/link.h"

#include "mpi/library/calls/table.h"
#include "mpi/library/diagnostics/watch.h"
#include "mpi/library/fortran/table.h"
#include "mpi/library/helper/nap.h"
#include "mpi/library/inside.h"
#include "mpi/library/mpi.h"
#include "mpi/library/tampi/table.h"

namespace weft::mpi {

namespace {

const Replacements kLists[] = {
    kReplacements,
    kLargeReplacements,
    kTampiReplacements,
#ifdef OPEN_MPI
    // The Fortran routines of other MPIs call the functions of C.
    kFortranReplacements,
#endif
};

// A test comes back at once, and a helper has no other work to let run.
bool yield() noexcept { return t_testing != 0 || nap_in_helper(); }

}  // namespace

}  // namespace weft::mpi

extern "C" [[gnu::visibility("default")]] const weft::mpi::Link weft_mpi_link;
const weft::mpi::Link weft_mpi_link{.layout = weft::mpi::kLinkLayout,
                                    .begin = weft::mpi::expect_blocked_signal,
                                    .yield = weft::mpi::yield,
                                    .lists = weft::mpi::kLists,
                                    .count = sizeof weft::mpi::kLists / sizeof *weft::mpi::kLists};
