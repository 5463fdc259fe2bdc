// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/completion.h"

#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi {

int wait(MPI_Request* request, MPI_Status* status) noexcept {
  const Runtime* runtime = converting();
  // MPI says what is wrong with a null pointer.
  if (runtime == nullptr || request == nullptr) return PMPI_Wait(request, status);
  static constexpr int kOne = 1;
  return wait_for(*runtime, *request, status, Origin{},
                  call_for_requests<PMPI_Wait>(kOne, __builtin_return_address(0)));
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept {
  const Runtime* runtime = converting();
  if (runtime == nullptr || count <= 0 || requests == nullptr) return PMPI_Waitall(count, requests, statuses);
  return wait_for_all(*runtime, count, requests, statuses, Origin{},
                      call_for_requests<PMPI_Waitall>(count, __builtin_return_address(0)));
}

int waitsome(int count, MPI_Request* requests, int* completed, int* places, MPI_Status* statuses) noexcept {
  const Runtime* runtime = converting();
  if (runtime == nullptr || completed == nullptr) return PMPI_Waitsome(count, requests, completed, places, statuses);
  struct Some {
    int count;
    MPI_Request* requests;
    int* completed;
    int* places;
    MPI_Status* statuses;
    int code;
  } some{count, requests, completed, places, statuses, MPI_SUCCESS};
  // MPI_UNDEFINED, when none is active, ends it too.
  const auto attempt = [](void* argument) {
    auto& [count, requests, completed, places, statuses, code] = *static_cast<Some*>(argument);
    code = PMPI_Testsome(count, requests, completed, places, statuses);
    return *completed != 0 || code != MPI_SUCCESS;
  };
  wait_until(*runtime, attempt, &some, call_for_requests<PMPI_Waitsome>(count, __builtin_return_address(0)));
  return some.code;
}

}  // namespace weft::mpi
