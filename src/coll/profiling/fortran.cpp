// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/fortran.h"

#include <cstdio>

#include "base/message.h"
#include "coll/profiling/calls.h"
#include "coll/profiling/start.h"
#include "platform/find_symbol.h"

namespace weft::coll::fortran {

namespace {

void* (*g_own)(const char* name) noexcept;

// The first that is there of the names that compilers of Fortran give a routine.
template <class Routine>
Routine find_own(const char* const (&names)[4]) noexcept {
  for (const char* name : names) {
    if (void* own = g_own(name)) return reinterpret_cast<Routine>(own);
  }
  base::fatal("coll: this MPI has no %s", names[0]);
}

// What is known by its address in Fortran: that of a variable with one of these names.
class NamedAddress {
 public:
  explicit NamedAddress(const char* const (&names)[4]) noexcept {
    for (int i = 0; i < 4; ++i) addresses_[i] = platform::find_symbol(names[i]);
  }
  bool is(const void* address) const noexcept {
    for (const void* own : addresses_) {
      if (own == address) return own != nullptr;
    }
    return false;
  }

 private:
  const void* addresses_[4];
};

// The address of data in C.
template <class Data>
Data* data_of(Data* address) noexcept {
  static const NamedAddress bottom(
      {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"});
  static const NamedAddress in_place(
      {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"});
  if (bottom.is(address)) return MPI_BOTTOM;
  return in_place.is(address) ? MPI_IN_PLACE : address;
}

MPI_Comm comm_of(const MPI_Fint* number) noexcept { return g_mpi.Comm_f2c(*number); }
MPI_Datatype type_of(const MPI_Fint* number) noexcept { return g_mpi.Type_f2c(*number); }
MPI_Op op_of(const MPI_Fint* number) noexcept { return g_mpi.Op_f2c(*number); }

void give(MPI_Fint* error, int code) noexcept {
  if (error != nullptr) *error = code;
}

}  // namespace

void begin(void* (*own)(const char* name) noexcept) noexcept { g_own = own; }

bool is_known() noexcept {
  constexpr int kMost = 5;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  int major = 0;
  g_mpi.Get_library_version(version, &length);
  return std::sscanf(version, "Open MPI v%d", &major) == 1 && major <= kMost;
}

// Through MPI's own routines, which prepare what only Fortran programs have.
void init(MPI_Fint* error) noexcept {
  MPI_Fint code = MPI_SUCCESS;
  find_own<void (*)(MPI_Fint*)>({"mpi_init_", "mpi_init", "mpi_init__", "MPI_INIT"})(&code);
  give(error, started(code));
}

void init_thread(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) noexcept {
  MPI_Fint code = MPI_SUCCESS;
  find_own<void (*)(MPI_Fint*, MPI_Fint*, MPI_Fint*)>(
      {"mpi_init_thread_", "mpi_init_thread", "mpi_init_thread__", "MPI_INIT_THREAD"})(required, provided, &code);
  give(error, started(code));
}

void barrier(const MPI_Fint* comm, MPI_Fint* error) noexcept { give(error, call_barrier(comm_of(comm))); }

void bcast(void* data, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root, const MPI_Fint* comm,
           MPI_Fint* error) noexcept {
  give(error, call_bcast<int>(data_of(data), *count, type_of(type), *root, comm_of(comm)));
}

void reduce(const void* send, void* receive, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* op,
            const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* error) noexcept {
  give(error,
       call_reduce<int>(data_of(send), data_of(receive), *count, type_of(type), op_of(op), *root, comm_of(comm)));
}

void allreduce(const void* send, void* receive, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* op,
               const MPI_Fint* comm, MPI_Fint* error) noexcept {
  give(error, call_allreduce<int>(data_of(send), data_of(receive), *count, type_of(type), op_of(op), comm_of(comm)));
}

void allgather(const void* send, const MPI_Fint* send_count, const MPI_Fint* send_type, void* receive,
               const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* comm, MPI_Fint* error) noexcept {
  give(error, call_allgather<int>(data_of(send), *send_count, type_of(send_type), data_of(receive), *count,
                                  type_of(type), comm_of(comm)));
}

void alltoall(const void* send, const MPI_Fint* send_count, const MPI_Fint* send_type, void* receive,
              const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* comm, MPI_Fint* error) noexcept {
  give(error, call_alltoall<int>(data_of(send), *send_count, type_of(send_type), data_of(receive), *count,
                                 type_of(type), comm_of(comm)));
}

}  // namespace weft::coll::fortran
