// SPDX-License-Identifier: Apache-2.0
// The calls whose counts are of the type MPI_Count. Their names end with _c.
#include "mpi/library/calls/rows.h"
#include "mpi/library/calls/table.h"

namespace weft::mpi {

using SendrecvCount = Sendrecv<MPI_Count, PMPI_Sendrecv_c, PMPI_Isend_c, PMPI_Irecv_c>;
using SendrecvReplaceCount =
    SendrecvReplace<MPI_Count, PMPI_Sendrecv_replace_c, PMPI_Pack_size_c, PMPI_Pack_c, SendrecvCount>;

// clang-format off
static const Replacement kRows[] = {
  ROWS_OF_BOTH(_c)
  ROW(Sendrecv_c, &SendrecvCount::call) ROW(Sendrecv_replace_c, &SendrecvReplaceCount::call)
};
// clang-format on

const Replacements kLargeReplacements{kRows, sizeof kRows / sizeof *kRows};

}  // namespace weft::mpi
