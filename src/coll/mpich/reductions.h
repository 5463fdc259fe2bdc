// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace weft::coll {

// Whether the operation has a meaning for elements of this type, and they have no gaps. MPI wants both to be the same
// on all ranks. What is not known for sure is left to MPI, which may refuse it.
bool can_combine(MPI_Datatype type, MPI_Op op) noexcept;

}  // namespace weft::coll
