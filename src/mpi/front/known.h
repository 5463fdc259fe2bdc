// SPDX-License-Identifier: Apache-2.0
// Which MPIs weft knows, by their version texts. Of other MPIs nothing is certain, least of all their handles.
#pragma once

#include <cstddef>

#include "mpi/front/mapped.h"

namespace weft::mpi {

// MPI's own function, which may be called before MPI_Init.
using SayVersion = int (*)(char* text, int* length);

// Whether weft was tested with this family of MPIs, up to this version. If not, `why` says what the MPI is, and what is
// wrong.
bool is_known(const Mapped& mapped, SayVersion say, char* why, size_t size) noexcept;

}  // namespace weft::mpi
