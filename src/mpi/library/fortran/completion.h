// SPDX-License-Identifier: Apache-2.0
// Routines whose arguments are translated: those that take requests, that are made of several others, or start MPI.
#pragma once

#include "mpi/library/mpi.h"

namespace weft::mpi::fortran {

void init(MPI_Fint* error) noexcept;
void init_thread(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) noexcept;
void finalize(MPI_Fint* error) noexcept;
void query_thread(MPI_Fint* provided, MPI_Fint* error) noexcept;
void is_thread_main(MPI_Fint* flag, MPI_Fint* error) noexcept;

void wait(MPI_Fint* request, void* status, MPI_Fint* error) noexcept;
void waitall(const MPI_Fint* count, MPI_Fint* requests, void* statuses, MPI_Fint* error) noexcept;
void waitsome(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* completed, MPI_Fint* places, void* statuses,
              MPI_Fint* error) noexcept;

void sendrecv(void* from, void* sent, void* send_type, void* to, void* send_tag, void* into, void* received,
              void* receive_type, void* source, void* receive_tag, void* communicator, void* status,
              MPI_Fint* error) noexcept;
void sendrecv_replace(void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* to,
                      const MPI_Fint* send_tag, const MPI_Fint* source, const MPI_Fint* receive_tag,
                      const MPI_Fint* communicator, void* status, MPI_Fint* error) noexcept;
void comm_dup(const MPI_Fint* communicator, MPI_Fint* made, MPI_Fint* error) noexcept;
void intercomm_merge(const MPI_Fint* communicator, const MPI_Fint* high, MPI_Fint* merged, MPI_Fint* error) noexcept;

}  // namespace weft::mpi::fortran
