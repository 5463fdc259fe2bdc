// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/collective.h"

#include "mpi/library/errors/errors.h"
#include "mpi/library/mpi.h"
#include "mpi/meeting.h"

namespace weft::mpi {

namespace {

struct OwnMpi {
  decltype(&PMPI_Abort) Abort = PMPI_Abort;
  decltype(&PMPI_Comm_rank) Comm_rank = PMPI_Comm_rank;
  decltype(&PMPI_Comm_size) Comm_size = PMPI_Comm_size;
  decltype(&PMPI_Irecv) Irecv = PMPI_Irecv;
  decltype(&PMPI_Isend) Isend = PMPI_Isend;
  decltype(&PMPI_Test) Test = PMPI_Test;
};

constexpr MeetingTexts kTexts{
    .part = "mpi", .file = "/libweft-mpi.so", .name = "weft's MPI library", .option = "weft run --mpi", .tag = 32701};

}  // namespace

const Runtime kWithoutRuntime{.spin_until = [](int (*done)(void*), void* argument) {
  while (done(argument) == 0) {
  }
  return 1;
}};

void agree_on_collectives(bool must_convert) noexcept {
  const Inside inside;
  const OwnMpi own;
  const int all = Meeting<OwnMpi>(own, kTexts).meet(must_convert ? 1 : 0);
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
