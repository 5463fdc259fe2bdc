// SPDX-License-Identifier: Apache-2.0
// The Fortran routines of version 3 of TAMPI, which programs with weft/TAMPIf.h call.
#pragma once

#include <cstddef>
#include <utility>

#include "mpi/library/fortran/routine.h"
#include "mpi/library/inside.h"
#include "mpi/library/mpi.h"

namespace weft::mpi {

void tampi_init_fortran(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) noexcept;
void tampi_finalize_fortran(MPI_Fint* error) noexcept;
void tampi_property_get_fortran(const MPI_Fint* property, MPI_Fint* value, MPI_Fint* error) noexcept;
void tampi_property_set_fortran(const MPI_Fint* property, const MPI_Fint* value, MPI_Fint* error) noexcept;

void iwait_fortran(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error) noexcept;
void iwaitall_fortran(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* statuses, MPI_Fint* error) noexcept;

// TAMPI_IX made of MPI_IX(A..., request, error): its request is an event of the calling task. `arguments`: how many
// there are without the request.
template <Text start, class Places>
struct RequestedAt;

template <Text start, size_t... place>
struct RequestedAt<start, std::index_sequence<place...>> {
  static void call(Address<place>... arguments, MPI_Fint* request, MPI_Fint* error) noexcept {
    call_with_status(arguments..., request, MPI_F_STATUS_IGNORE, error);
  }
  static void call_with_status(Address<place>... arguments, MPI_Fint* request, MPI_Fint* status,
                               MPI_Fint* error) noexcept {
    int code;
    {
      const Inside inside;
      code = Routine<start, sizeof...(place) + 1>::call(arguments..., request);
    }
    if (code != MPI_SUCCESS) return give_error(error, code);
    iwait_fortran(request, status, error);
  }
};

template <Text start, size_t arguments>
using Requested = RequestedAt<start, std::make_index_sequence<arguments>>;

}  // namespace weft::mpi
