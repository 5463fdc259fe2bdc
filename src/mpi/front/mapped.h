// SPDX-License-Identifier: Apache-2.0
// The MPI that is mapped into the process.
#pragma once

namespace weft::mpi {

enum class Kind { none, open_mpi, mpich, standard_abi, several };

struct Mapped {
  Kind kind = Kind::none;
  // Of the shared object that has MPI's functions.
  char path[4096] = "";
};

Mapped find_mapped() noexcept;

// MPI's own function of that name: the one that the program would have without this library. Null: there is none.
void* find_own(const char* name) noexcept;

}  // namespace weft::mpi
