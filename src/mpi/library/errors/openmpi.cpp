// SPDX-License-Identifier: Apache-2.0
// Open MPI keeps with a request what it belongs to, and calls the right handler whichever call completes it.
#include "mpi/library/errors/errors.h"

namespace weft::mpi {

Completing::Completing(Requests) noexcept : outer_(0), keeping_(false) {}
Completing::~Completing() = default;
int Completing::code(int returned) const noexcept { return returned; }

int raise(const Origin&, int code) noexcept { return code; }

int raise_own(int code) noexcept {
  const Inside inside;
  PMPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  return code;
}

void keep_errors() noexcept {}

int set_handler(MPI_Comm communicator, MPI_Errhandler handler) noexcept {
  return PMPI_Comm_set_errhandler(communicator, handler);
}

int get_handler(MPI_Comm communicator, MPI_Errhandler* handler) noexcept {
  return PMPI_Comm_get_errhandler(communicator, handler);
}

int create_handler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) noexcept {
  return PMPI_Comm_create_errhandler(function, handler);
}

}  // namespace weft::mpi
