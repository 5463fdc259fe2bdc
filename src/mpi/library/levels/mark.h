// SPDX-License-Identifier: Apache-2.0
// A file by which `weft report` knows that the process is between MPI_Init and the end of MPI_Finalize: where it ends
// there, launchers end the other ranks. Nothing is done where nobody makes a report.
#pragma once

namespace weft::mpi {

void leave_mark() noexcept;
void remove_mark() noexcept;

}  // namespace weft::mpi
