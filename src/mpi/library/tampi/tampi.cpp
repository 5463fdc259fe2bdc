// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/tampi/tampi.h"

#include "base/message.h"
#include "mpi/library/diagnostics/plain.h"
#include "mpi/library/runtime.h"
#include "mpi/library/tampi/detach.h"
#include "platform/find_symbol.h"
#include "weft/TAMPI.h"

namespace weft::mpi {

namespace {

// TAMPI's property of a thread. It has no effect: a program sees no difference between a call that pauses and one that
// blocks, but for the time.
thread_local int t_task_aware = 1;

// omp_fulfill_event() of the program's OpenMP, which may be another one than weft's.
void fulfill(uintptr_t event) noexcept {
  using Fulfill = void (*)(uintptr_t);
  static const auto omp_fulfill_event = reinterpret_cast<Fulfill>(platform::find_symbol("omp_fulfill_event"));
  if (omp_fulfill_event == nullptr)
    base::fatal("mpi: weft_mpi_detach needs OpenMP's events, and the process has no OpenMP");
  omp_fulfill_event(event);
}

}  // namespace

int iwaitall_from(const void* caller, int count, MPI_Request* requests, MPI_Status* statuses) noexcept {
  const Runtime* runtime = converting();
  if (runtime == nullptr || count <= 0) {
    return call_plain(describe_requests<PMPI_Waitall>, count, caller,
                      [=] { return PMPI_Waitall(count, requests, statuses); });
  }
  return detach_from_task(*runtime, count, requests, statuses, caller);
}

int iwaitall(int count, MPI_Request* requests, MPI_Status* statuses) noexcept {
  return iwaitall_from(__builtin_return_address(0), count, requests, statuses);
}

int iwait_from(const void* caller, MPI_Request* request, MPI_Status* status) noexcept {
  return iwaitall_from(caller, 1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
}

int iwait(MPI_Request* request, MPI_Status* status) noexcept {
  return iwait_from(__builtin_return_address(0), request, status);
}

static int detach_event_from(const void* caller, int count, MPI_Request* requests, MPI_Status* statuses,
                             uintptr_t event) noexcept {
  const Runtime* runtime = runtime_here();
  if (runtime == nullptr || count <= 0) {
    const int code = PMPI_Waitall(count, requests, statuses);
    fulfill(event);
    return code;
  }
  const auto come = [](const Runtime&, void* argument) { fulfill(reinterpret_cast<uintptr_t>(argument)); };
  return detach(*runtime, count, requests, statuses, {come, reinterpret_cast<void*>(event)}, caller);
}

int detach_event_all(int count, MPI_Request* requests, MPI_Status* statuses, uintptr_t event) noexcept {
  return detach_event_from(__builtin_return_address(0), count, requests, statuses, event);
}

int detach_event(MPI_Request* request, uintptr_t event) noexcept {
  return detach_event_from(__builtin_return_address(0), 1, request, MPI_STATUSES_IGNORE, event);
}

int tampi_init(int required, int* provided) noexcept {
  // MPI_Init has done everything already.
  const bool pauses = runtime_here() != nullptr;
  *provided = pauses || required < MPI_TASK_MULTIPLE ? required : MPI_THREAD_MULTIPLE;
  return MPI_SUCCESS;
}

int tampi_finalize() noexcept { return MPI_SUCCESS; }

int tampi_property_get(int property, int* value) noexcept {
  switch (property) {
    case TAMPI_PROPERTY_BLOCKING_MODE:
    case TAMPI_PROPERTY_NONBLOCKING_MODE: return tampi_enabled(value);
    case TAMPI_PROPERTY_AUTO_INIT: *value = 1; return MPI_SUCCESS;
    case TAMPI_PROPERTY_THREAD_TASKAWARE: *value = t_task_aware; return MPI_SUCCESS;
    default: return MPI_ERR_ARG;
  }
}

int tampi_property_set(int property, int value) noexcept {
  switch (property) {
    case TAMPI_PROPERTY_AUTO_INIT: return MPI_SUCCESS;
    case TAMPI_PROPERTY_THREAD_TASKAWARE: t_task_aware = value; return MPI_SUCCESS;
    default: return MPI_ERR_ARG;
  }
}

int tampi_enabled(int* flag) noexcept {
  *flag = runtime_here() != nullptr ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
