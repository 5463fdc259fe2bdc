// SPDX-License-Identifier: Apache-2.0
// A file by which `weft report` knows that the process is between MPI_Init and the end of MPI_Finalize: if it ends
// there, launchers end the other ranks. Without a report there is no file.
#pragma once

namespace weft::mpi {

void leave_mark() noexcept;
void remove_mark() noexcept;

}  // namespace weft::mpi
