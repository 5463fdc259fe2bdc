// SPDX-License-Identifier: Apache-2.0
// Statuses of Fortran programs.
#pragma once

#include <cstddef>

#include "mpi/library/mpi.h"

namespace weft::mpi::fortran {

inline constexpr size_t kStatusSize = sizeof(MPI_Status) / sizeof(MPI_Fint);

// Writes `from` to the program's `status`, unless that is the constant for no status.
inline void give_status(const MPI_Status& from, void* status) noexcept {
  auto* into = static_cast<MPI_Fint*>(status);
  if (into != MPI_F_STATUS_IGNORE) PMPI_Status_c2f(&from, into);
}

// The status argument of a routine of MPI's. The library may need the status too: in C's form, at `wanted`, which is
// MPI_STATUS_IGNORE if not.
class WantedStatus {
 public:
  WantedStatus(void* programs, MPI_Status* wanted) noexcept : wanted_(wanted), address_(programs) {
    if (wanted != MPI_STATUS_IGNORE && programs == MPI_F_STATUS_IGNORE) address_ = own_;
  }
  // What to pass to the routine.
  void* address() noexcept { return address_; }
  // To be called with the code that the routine has returned.
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
