// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/variables.h"

#include "coll/profiling/process_mpi.h"

namespace weft::coll {

namespace {

bool read(const char* name, void* value, int most) noexcept {
  int index = 0;
  int count = 0;
  MPI_T_cvar_handle variable = nullptr;
  if (g_mpi.T_cvar_get_index(name, &index) != MPI_SUCCESS ||
      g_mpi.T_cvar_handle_alloc(index, nullptr, &variable, &count) != MPI_SUCCESS) {
    return false;
  }
  const bool good = count <= most && g_mpi.T_cvar_read(variable, value) == MPI_SUCCESS;
  g_mpi.T_cvar_handle_free(&variable);
  return good;
}

}  // namespace

bool read_variable(const char* name, void* value, int most) noexcept {
  int level = 0;
  if (g_mpi.T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) return false;
  const bool good = read(name, value, most);
  g_mpi.T_finalize();
  return good;
}

}  // namespace weft::coll
