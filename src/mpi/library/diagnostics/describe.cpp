// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/diagnostics/describe.h"

namespace weft::mpi {

long long bytes_of(const Description& what) noexcept {
  if (what.count < 0 || what.type == MPI_DATATYPE_NULL) return -1;
  // Takes no lock of MPI's.
  int size = 0;
  return PMPI_Type_size(what.type, &size) == MPI_SUCCESS && size >= 0 ? what.count * size : -1;
}

}  // namespace weft::mpi
