// SPDX-License-Identifier: Apache-2.0
// The Fortran routines of Open MPI, which call no function of C that could be replaced: those of mpif.h, of `use mpi`
// and of `use mpi_f08`. Handles are numbers, or structures of one number; all arguments are passed by address, and in
// mpi_f08 the address of the error may be null.
#pragma once

#include "coll/profiling/process_mpi.h"

namespace weft::coll::fortran {

// Called once, before the routines. `own` finds MPI's own function by a name; null: there is none.
void begin(void* (*own)(const char* name) noexcept) noexcept;

// Whether weft knows how this Open MPI's routines are called. Since version 6 those of mpi_f08 may get descriptors of
// their data.
bool is_known() noexcept;

void init(MPI_Fint* error) noexcept;
void init_thread(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) noexcept;

void barrier(const MPI_Fint* comm, MPI_Fint* error) noexcept;
void bcast(void* data, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root, const MPI_Fint* comm,
           MPI_Fint* error) noexcept;
void reduce(const void* send, void* receive, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* op,
            const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* error) noexcept;
void allreduce(const void* send, void* receive, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* op,
               const MPI_Fint* comm, MPI_Fint* error) noexcept;
void allgather(const void* send, const MPI_Fint* send_count, const MPI_Fint* send_type, void* receive,
               const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* comm, MPI_Fint* error) noexcept;
void alltoall(const void* send, const MPI_Fint* send_count, const MPI_Fint* send_type, void* receive,
              const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* comm, MPI_Fint* error) noexcept;

}  // namespace weft::coll::fortran
