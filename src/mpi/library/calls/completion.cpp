// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/completion.h"

#include "mpi/library/calls/attempted.h"
#include "mpi/library/diagnostics/plain.h"
#include "mpi/library/pending/claims.h"
#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi {

int wait(MPI_Request* request, MPI_Status* status) noexcept {
  const Runtime* runtime = converting();
  const void* caller = __builtin_return_address(0);
  constexpr auto kDescribe = describe_requests<PMPI_Wait>;
  static constexpr int kOne = 1;
  // MPI says what is wrong with a null pointer.
  if (runtime == nullptr || request == nullptr) {
    return call_plain(kDescribe, kOne, caller, [=] { return PMPI_Wait(request, status); });
  }
  return wait_for_programs(*runtime, *request, status, {kDescribe, &kOne, caller});
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept {
  const Runtime* runtime = converting();
  const void* caller = __builtin_return_address(0);
  constexpr auto kDescribe = describe_requests<PMPI_Waitall>;
  if (runtime == nullptr || count <= 0 || requests == nullptr) {
    return call_plain(kDescribe, count, caller, [=] { return PMPI_Waitall(count, requests, statuses); });
  }
  return wait_for_all(*runtime, count, requests, statuses, {kDescribe, &count, caller});
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) noexcept {
  if (converting() != nullptr && requests != nullptr && is_waited_for(count, requests)) return refuse_second_wait();
  return Attempted<PMPI_Waitany, PMPI_Testany, 3>::call_from(__builtin_return_address(0), count, requests, index,
                                                             status);
}

int waitsome(int count, MPI_Request* requests, int* completed, int* places, MPI_Status* statuses) noexcept {
  const Runtime* runtime = converting();
  const void* caller = __builtin_return_address(0);
  constexpr auto kDescribe = describe_requests<PMPI_Waitsome>;
  if (runtime == nullptr || completed == nullptr) {
    return call_plain(kDescribe, count, caller,
                      [=] { return PMPI_Waitsome(count, requests, completed, places, statuses); });
  }
  if (requests != nullptr && is_waited_for(count, requests)) return refuse_second_wait();
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
  wait_until(*runtime, attempt, &some, {kDescribe, &count, caller});
  return some.code;
}

}  // namespace weft::mpi
