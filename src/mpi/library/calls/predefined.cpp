// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/collectives.h"

namespace weft::mpi {

bool is_predefined(MPI_Op operation) noexcept {
  for (const MPI_Op known : {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR,
                             MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL}) {
    if (operation == known) return true;
  }
  return false;
}

}  // namespace weft::mpi
