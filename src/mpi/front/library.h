// SPDX-License-Identifier: Apache-2.0
// weft's library for the MPI of the process. There is one for each ABI of MPI.
#pragma once

#include "mpi/front/mapped.h"

namespace weft::mpi {

struct Library {
  Kind kind;
  // Null: there is none, or it cannot serve this MPI; one rank of the job has said why.
  void* handle;
  // Of the MPI.
  void* mpi;
};

// Loads PREFIX-ABI.so, as libweft-mpi-mpich.so, which lies beside this library. Nothing of the process has changed
// where weft does not know the MPI. `global`: the library takes MPI's functions from the global scope, where a plugin's
// MPI is not.
Library load_library(const char* prefix, bool global) noexcept;

// Says, by one rank of the job, that MPI runs without weft, and why.
[[gnu::format(printf, 1, 2)]] void say_left(const char* why, ...) noexcept;

}  // namespace weft::mpi
