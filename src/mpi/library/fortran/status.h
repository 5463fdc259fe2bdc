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

// For a routine of MPI's, whose status somebody else may want as well: as C has it, `wanted`, MPI_STATUS_IGNORE if not.
class WantedStatus {
 public:
  WantedStatus(void* programs, MPI_Status* wanted) noexcept : wanted_(wanted), address_(programs) {
    if (wanted != MPI_STATUS_IGNORE && programs == MPI_F_STATUS_IGNORE) address_ = own_;
  }
  // For the routine.
  void* address() noexcept { return address_; }
  // What it has returned.
  int after(int code) noexcept {
    if (code == MPI_SUCCESS && wanted_ != MPI_STATUS_IGNORE) {
      PMPI_Status_f2c(static_cast<const MPI_Fint*>(address_), wanted_);
    }
    return code;
  }

 private:
  MPI_Status* wanted_;
  void* address_;
  MPI_Fint own_[kStatusSize];
};

}  // namespace weft::mpi::fortran
