// SPDX-License-Identifier: Apache-2.0
// The MPI that is mapped into the process.
#pragma once

#include <link.h>

#include "platform/loaded_object.h"

namespace weft::mpi {

enum class Kind { none, open_mpi, mpich, standard_abi, several };

struct Mapped {
  Kind kind = Kind::none;
  // The path of the shared object that has MPI's functions.
  char path[4096] = "";
};

Mapped find_mapped() noexcept;

// The kind of one object. A tool may have MPI_Init; only an MPI has PMPI_Init.
Kind kind_of(const dl_phdr_info& info) noexcept;
// Whether the object is this library.
bool is_ours(const dl_phdr_info& info) noexcept;

// Loads a library of weft's that lies beside the one that this function is in. Lazily: an older MPI may lack functions
// that it needs only when the program calls what is newer. Null: dlerror() says why.
void* load_beside(const char* name) noexcept;

// Whether the MPI that is mapped, perhaps not relocated yet, has a function of that name.
bool mpi_has(const char* name) noexcept;

// Whether an MPI is mapped at all.
bool has_mpi() noexcept;

// MPI's own function of that name: the one that the program would have without this library. Null: there is none.
void* find_own(const char* name) noexcept;
// The same where the process has several MPIs: the one of the object that the address is in.
void* find_own_of(const void* caller, const char* name) noexcept;

}  // namespace weft::mpi
