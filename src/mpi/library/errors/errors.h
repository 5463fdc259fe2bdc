// SPDX-License-Identifier: Apache-2.0
// The error of a converted call reaches the handler that the blocking call's error would have reached, with the same
// code. An implementation for each MPI stands beside this file: they differ in whose handler they call when a request
// fails.
#pragma once

#include "mpi/library/inside.h"
#include "mpi/library/mpi.h"

namespace weft::mpi {

// What a call belongs to, and so whose handler its error is for.
struct Origin {
  enum class Of { communicator, file, request } of = Of::request;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_File file = MPI_FILE_NULL;
};

// Around a call that completes requests of converted calls, whose errors raise() reports. `several`: they belong to
// several calls, or to one that completes several.
class Completing {
 public:
  enum class Requests { one, several };

  explicit Completing(Requests requests = Requests::one) noexcept;
  ~Completing();
  // What a call returned, even if MPI has given its error to a handler and says that all is well.
  int code(int returned) const noexcept;

 private:
  Testing testing_;
  [[maybe_unused]] int outer_;      // of MPICH
  [[maybe_unused]] bool keeping_;  // of MPICH
};

// An error that a Completing has seen: calls the handler that MPI has not. Returns the code.
int raise(const Origin& origin, int code) noexcept;

// An error that belongs to no communicator, as that of MPI_Wait: calls the handler that MPI would call. Returns what a
// call with that error returns.
int raise_own(int code) noexcept;

// Before the first call is converted.
void keep_errors() noexcept;

// In the place of MPI's functions of these names.
int set_handler(MPI_Comm communicator, MPI_Errhandler handler) noexcept;
int get_handler(MPI_Comm communicator, MPI_Errhandler* handler) noexcept;
int create_handler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) noexcept;

}  // namespace weft::mpi
