// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/collective.h"

#include "base/message.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/mpi.h"

namespace weft::mpi {

namespace {

constexpr double kPatience = 10.0;  // seconds

}  // namespace

const Runtime kWithoutRuntime{.spin_until = [](int (*done)(void*), void* argument) {
  while (done(argument) == 0) {
  }
  return 1;
}};

void agree_on_collectives(bool must_convert) noexcept {
  const int mine = must_convert ? 1 : 0;
  int all = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  const Inside inside;
  if (PMPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request) != MPI_SUCCESS) return;
  const double start = PMPI_Wtime();
  bool said = false;
  for (int done = 0; done == 0;) {
    if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    if (done == 0 && !said && PMPI_Wtime() - start > kPatience) {
      said = true;
      base::warn("mpi: other ranks do not answer; do all of them run with weft's MPI library?");
    }
  }
  if (all != 0) keep_errors();
  // Relaxed: as in converting_collectives().
  g_convert_collectives.store(all != 0, std::memory_order_relaxed);
}

const Runtime* helping_with_collective() noexcept {
  const Runtime* runtime = converting();
  if (runtime == nullptr) return nullptr;
  // The second look comes only if nothing else wants the CPU.
  int looks = 0;
  const auto is_second = [](void* argument) { return (*static_cast<int*>(argument))++; };
  return runtime->spin_until(is_second, &looks) == 0 ? runtime : nullptr;
}

}  // namespace weft::mpi
