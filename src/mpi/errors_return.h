// SPDX-License-Identifier: Apache-2.0
// MPI_ERRORS_RETURN as the MPI of the process has it. Two MPIs with the standard's ABI differ: Intel MPI 2021.19 has
// the numbers of MPI_ERRORS_RETURN and of MPI_ERRORS_ABORT the other way round. Built by each library with the headers
// of its MPI.
#pragma once

#include <mpi.h>

namespace weft::mpi {

// To be called when MPI has started.
inline MPI_Errhandler errors_return() noexcept {
#ifdef MPI_ABI_VERSION
  // It is every MPI's handler of files where the program has set no other (MPI 5.0, section 14.7).
  MPI_Errhandler of_files = MPI_ERRHANDLER_NULL;
  const int code = PMPI_File_get_errhandler(MPI_FILE_NULL, &of_files);
  if (code == MPI_SUCCESS && of_files == MPI_ERRORS_ABORT) return of_files;
#endif
  return MPI_ERRORS_RETURN;
}

}  // namespace weft::mpi
