// SPDX-License-Identifier: Apache-2.0
// The error of a converted call reaches the error handler that the blocking call would have called, with the same code.
// Beside this file stands an implementation for each MPI: MPIs differ in whose handler they call when a request fails.
#pragma once

#include "mpi/library/inside.h"
#include "mpi/library/mpi.h"

namespace weft::mpi {

// The object that a call belongs to: its handler gets the call's error.
struct Origin {
  enum class Of { communicator, file, request } of = Of::request;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_File file = MPI_FILE_NULL;
};

// Brackets a call that completes requests of converted calls, whose errors raise() reports. `several`: the requests
// belong to several calls, or to one call that completes several.
class Completing {
 public:
  enum class Requests { one, several };

  explicit Completing(Requests requests = Requests::one) noexcept;
  ~Completing();
  // The error code of a call that has returned `returned`: MPI may have given the error to a handler, and return
  // success.
  int code(int returned) const noexcept;

 private:
  Testing testing_;
  [[maybe_unused]] int outer_;  // of MPICH
  [[maybe_unused]] bool keeping_;  // of MPICH
};

// Calls the handler for an error that a Completing has seen and that MPI has given to none. Returns the code.
int raise(const Origin& origin, int code) noexcept;

// Calls the handler that MPI would call for an error that belongs to no communicator, such as one of MPI_Wait. Returns
// what a call with that error returns.
int raise_own(int code) noexcept;

// To be called before the first call is converted.
void keep_errors() noexcept;

// These replace MPI_Comm_set_errhandler, MPI_Comm_get_errhandler and MPI_Comm_create_errhandler.
int set_handler(MPI_Comm communicator, MPI_Errhandler handler) noexcept;
int get_handler(MPI_Comm communicator, MPI_Errhandler* handler) noexcept;
int create_handler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) noexcept;

}  // namespace weft::mpi
