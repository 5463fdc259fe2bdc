// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace weft::coll {

// Whether the operation has a meaning for elements of this type, and these have no gaps. MPI wants operation and type
// to be the same on all ranks. Where the answer is not known for sure, it is no: MPI makes the call, and may refuse it.
bool can_combine(MPI_Datatype type, MPI_Op op) noexcept;

}  // namespace weft::coll
