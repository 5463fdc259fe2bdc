// SPDX-License-Identifier: Apache-2.0
// The functions behind the error handlers that a program has made.
#pragma once

#include "mpi/library/mpi.h"

namespace weft::mpi {

void remember_function(MPI_Errhandler handler, MPI_Comm_errhandler_function* function) noexcept;

// The function of a handler; null: the program has made no such handler.
MPI_Comm_errhandler_function* function_of(MPI_Errhandler handler) noexcept;

}  // namespace weft::mpi
