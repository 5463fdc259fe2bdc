// SPDX-License-Identifier: Apache-2.0
// What the handles of this MPI say by themselves.
#pragma once

#include <cstddef>

#include "coll/profiling/process_mpi.h"

namespace weft::coll {

template <class Handle, size_t N>
bool among(Handle wanted, const Handle (&list)[N]) noexcept {
  for (const Handle handle : list) {
    if (handle == wanted) return true;
  }
  return false;
}

// Whether the type is a basic one, of one size and without gaps.
bool is_basic(MPI_Datatype type) noexcept;
// Whether it is an operation of the program's.
bool is_of_user(MPI_Op op) noexcept;
// Whether an operation of MPI's has a meaning for elements of the type. Where that is not known for sure, it is no.
bool has_meaning(MPI_Datatype type, MPI_Op op) noexcept;

}  // namespace weft::coll
