// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/tampi/fortran.h"

#include <cstdlib>

#include "base/message.h"
#include "mpi/library/tampi/tampi.h"

namespace weft::mpi {

namespace {

// A program's statuses, if it wants them: they have the form of those in C.
MPI_Status* statuses_of(MPI_Fint* statuses) noexcept {
  const bool wanted = statuses != MPI_F_STATUS_IGNORE && statuses != MPI_F_STATUSES_IGNORE;
  return wanted ? reinterpret_cast<MPI_Status*>(statuses) : MPI_STATUSES_IGNORE;
}

}  // namespace

void iwait_fortran(MPI_Fint* request, MPI_Fint* status, MPI_Fint* error) noexcept {
  MPI_Request waited = PMPI_Request_f2c(*request);
  const int code = iwaitall_from(__builtin_return_address(0), 1, &waited, statuses_of(status));
  *request = PMPI_Request_c2f(waited);
  give_error(error, code);
}

void iwaitall_fortran(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* statuses, MPI_Fint* error) noexcept {
  const int number = *count > 0 ? *count : 0;
  auto* waited = static_cast<MPI_Request*>(std::malloc(sizeof(MPI_Request) * static_cast<size_t>(number + 1)));
  if (waited == nullptr) base::lacking("mpi: no memory for %d requests", number);
  for (int i = 0; i < number; ++i) waited[i] = PMPI_Request_f2c(requests[i]);
  const int code = iwaitall_from(__builtin_return_address(0), *count, waited, statuses_of(statuses));
  for (int i = 0; i < number; ++i) requests[i] = PMPI_Request_c2f(waited[i]);
  std::free(waited);
  give_error(error, code);
}

void tampi_init_fortran(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) noexcept {
  int given = *provided;
  give_error(error, tampi_init(*required, &given));
  *provided = given;
}

void tampi_finalize_fortran(MPI_Fint* error) noexcept { give_error(error, tampi_finalize()); }

void tampi_property_get_fortran(const MPI_Fint* property, MPI_Fint* value, MPI_Fint* error) noexcept {
  int answer = *value;
  give_error(error, tampi_property_get(*property, &answer));
  *value = answer;
}

void tampi_property_set_fortran(const MPI_Fint* property, const MPI_Fint* value, MPI_Fint* error) noexcept {
  give_error(error, tampi_property_set(*property, *value));
}

}  // namespace weft::mpi
