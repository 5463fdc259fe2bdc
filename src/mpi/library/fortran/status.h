// SPDX-License-Identifier: Apache-2.0
// Statuses of Fortran programs.
#pragma once

#include <cstddef>

#include "mpi/library/mpi.h"

namespace weft::mpi::fortran {

inline constexpr size_t kStatusSize = sizeof(MPI_Status) / sizeof(MPI_Fint);

// `status`: of the program's, perhaps the one that stands for none.
inline void give_status(const MPI_Status& from, void* status) noexcept {
  auto* into = static_cast<MPI_Fint*>(status);
  if (into != MPI_F_STATUS_IGNORE) PMPI_Status_c2f(&from, into);
}

}  // namespace weft::mpi::fortran
