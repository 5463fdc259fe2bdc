// SPDX-License-Identifier: Apache-2.0
// Prints which handler of the standard's ABI returns errors, as weft sees it.
#include "mpi/errors_return.h"

#include <cstdio>

int main() {
  PMPI_Init(nullptr, nullptr);
  std::puts(weft::mpi::errors_return() == MPI_ERRORS_RETURN ? "return" : "abort");
  return PMPI_Finalize();
}
