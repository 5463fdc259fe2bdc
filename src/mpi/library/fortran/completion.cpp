// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/fortran/completion.h"

#include <cstdlib>

#include "mpi/library/calls/collectives.h"
#include "mpi/library/calls/sendrecv.h"
#include "mpi/library/calls/worlds.h"
#include "mpi/library/diagnostics/plain.h"
#include "mpi/library/diagnostics/trace.h"
#include "mpi/library/fortran/routine.h"
#include "mpi/library/fortran/status.h"
#include "mpi/library/levels/levels.h"
#include "mpi/library/levels/mark.h"
#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi::fortran {

namespace {

// Through MPI's own routine, which prepares what only Fortran programs have.
int start_mpi(void*, int level, int* given) noexcept {
  MPI_Fint asked = level;
  MPI_Fint answer = level;
  const Inside inside;
  const int code = Routine<"pmpi_init_thread_", 2>::call(&asked, &answer);
  *given = answer;
  return code;
}

// Requests and statuses of C for those of a program.
struct Requests {
  explicit Requests(int number) noexcept
      : count(number), requests(static_cast<MPI_Request*>(std::malloc(static_cast<size_t>(count) * kEach))) {
    statuses = reinterpret_cast<MPI_Status*>(requests + count);
  }
  ~Requests() { std::free(requests); }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  static constexpr size_t kEach = sizeof(MPI_Request) + sizeof(MPI_Status);
  int count;
  MPI_Request* requests;
  MPI_Status* statuses;
};

}  // namespace

void init(MPI_Fint* error) noexcept {
  int provided;
  give_error(error, start_asked(MPI_THREAD_SINGLE, &provided, start_mpi, nullptr));
}

void init_thread(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) noexcept {
  int answer = *provided;
  give_error(error, start_asked(*required, &answer, start_mpi, nullptr));
  *provided = answer;
}

void finalize(MPI_Fint* error) noexcept {
  deactivate();
  const Inside inside;
  begin_wait("MPI_Finalize", __builtin_return_address(0));
  give_error(error, Routine<"pmpi_finalize_", 0>::call());
  end_wait();
  remove_mark();
}

void query_thread(MPI_Fint* provided, MPI_Fint* error) noexcept {
  int answer = *provided;
  give_error(error, mpi::query_thread(&answer));
  *provided = answer;
}

void is_thread_main(MPI_Fint* flag, MPI_Fint* error) noexcept {
  int answer = 0;
  const int code = mpi::is_thread_main(&answer);
  if (code == MPI_SUCCESS) *flag = answer;
  give_error(error, code);
}

void wait(MPI_Fint* request, void* status, MPI_Fint* error) noexcept {
  const Runtime* runtime = converting();
  static constexpr int kOne = 1;
  const Call call{describe_requests<PMPI_Wait>, &kOne, __builtin_return_address(0)};
  if (runtime == nullptr) {
    const auto plain = [=] { return Routine<"pmpi_wait_", 2>::call(request, status); };
    return give_error(error, call_plain(call.describe, kOne, call.caller, plain));
  }
  MPI_Request waited = PMPI_Request_f2c(*request);
  MPI_Status completed;
  completed.MPI_ERROR = MPI_SUCCESS;
  const int code = wait_for_programs(*runtime, waited, &completed, call);
  *request = PMPI_Request_c2f(waited);
  give_status(completed, status);
  give_error(error, code);
}

void waitall(const MPI_Fint* count, MPI_Fint* requests, void* statuses, MPI_Fint* error) noexcept {
  const Runtime* runtime = converting();
  const Requests all(runtime != nullptr && *count > 0 ? *count : 0);
  const Call call{describe_requests<PMPI_Waitall>, count, __builtin_return_address(0)};
  if (all.count == 0 || all.requests == nullptr) {
    MPI_Fint number = *count;
    const auto plain = [&] { return Routine<"pmpi_waitall_", 3>::call(&number, requests, statuses); };
    return give_error(error, call_plain(call.describe, *count, call.caller, plain));
  }
  for (int i = 0; i < all.count; ++i) all.requests[i] = PMPI_Request_f2c(requests[i]);
  const int code = wait_for_all(*runtime, all.count, all.requests, all.statuses, call);
  auto* into = static_cast<MPI_Fint*>(statuses);
  const bool wanted = into != MPI_F_STATUSES_IGNORE && into != MPI_F_STATUS_IGNORE;
  for (int i = 0; i < all.count; ++i) {
    requests[i] = PMPI_Request_c2f(all.requests[i]);
    if (wanted) give_status(all.statuses[i], into + kStatusSize * static_cast<size_t>(i));
  }
  give_error(error, code);
}

void waitsome(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* completed, MPI_Fint* places, void* statuses,
              MPI_Fint* error) noexcept {
  const Runtime* runtime = converting();
  const Call call{describe_requests<PMPI_Waitsome>, count, __builtin_return_address(0)};
  if (runtime == nullptr) {
    const auto plain = [=] { return Routine<"pmpi_waitsome_", 5>::call(count, requests, completed, places, statuses); };
    return give_error(error, call_plain(call.describe, *count, call.caller, plain));
  }
  struct Some {
    void* const arguments[5];
    int code;
  } some{{count, requests, completed, places, statuses}, MPI_SUCCESS};
  const auto attempt = [](void* argument) {
    auto& [arguments, code] = *static_cast<Some*>(argument);
    code = spread(Routine<"pmpi_testsome_", 5>::call, arguments, std::make_index_sequence<5>());
    return *static_cast<MPI_Fint*>(arguments[2]) != 0 || code != MPI_SUCCESS;
  };
  wait_until(*runtime, attempt, &some, call);
  give_error(error, some.code);
}

void sendrecv(void* from, void* sent, void* send_type, void* to, void* send_tag, void* into, void* received,
              void* receive_type, void* source, void* receive_tag, void* communicator, void* status,
              MPI_Fint* error) noexcept {
  const Runtime* runtime = converting();
  const auto number = [](const void* argument) { return *static_cast<const MPI_Fint*>(argument); };
  const Exchange both{kNameOf<PMPI_Sendrecv>,     number(to),
                      number(send_tag),           number(source),
                      number(receive_tag),        PMPI_Comm_f2c(number(communicator)),
                      __builtin_return_address(0)};
  if (runtime == nullptr) {
    const auto plain = [&](MPI_Status* wanted) {
      WantedStatus given(status, wanted);
      return given.after(Routine<"pmpi_sendrecv_", 12>::call(from, sent, send_type, to, send_tag, into, received,
                                                             receive_type, source, receive_tag, communicator,
                                                             given.address()));
    };
    return give_error(error, call_plain(describe_exchange, both, both.caller, MPI_STATUS_IGNORE, plain));
  }
  MPI_Fint receive = 0;
  MPI_Fint send = 0;
  {
    const Inside inside;
    int code =
        Routine<"pmpi_irecv_", 7>::call(into, received, receive_type, source, receive_tag, communicator, &receive);
    if (code != MPI_SUCCESS) return give_error(error, code);
    code = Routine<"pmpi_isend_", 7>::call(from, sent, send_type, to, send_tag, communicator, &send);
    if (code != MPI_SUCCESS) {
      MPI_Request started = PMPI_Request_f2c(receive);
      take_back(started);
      return give_error(error, code);
    }
  }
  MPI_Status completed;
  completed.MPI_ERROR = MPI_SUCCESS;
  const int code = wait_for_both(*runtime, PMPI_Request_f2c(receive), PMPI_Request_f2c(send), &completed, both);
  give_status(completed, status);
  give_error(error, code);
}

void sendrecv_replace(void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* to,
                      const MPI_Fint* send_tag, const MPI_Fint* source, const MPI_Fint* receive_tag,
                      const MPI_Fint* communicator, void* status, MPI_Fint* error) noexcept {
  // What MPI_BOTTOM is in Fortran: a variable of this name.
  static void* const bottom = platform::find_symbol("mpi_fortran_bottom_");
  MPI_Status completed;
  completed.MPI_ERROR = MPI_SUCCESS;
  const int code = SendrecvReplaceInt::call_from(__builtin_return_address(0), buffer == bottom ? MPI_BOTTOM : buffer,
                                                 *count, PMPI_Type_f2c(*type), *to, *send_tag, *source, *receive_tag,
                                                 PMPI_Comm_f2c(*communicator), &completed);
  give_status(completed, status);
  give_error(error, code);
}

void comm_dup(const MPI_Fint* communicator, MPI_Fint* made, MPI_Fint* error) noexcept {
  MPI_Comm duplicate = MPI_COMM_NULL;
  const int code = mpi::Collective<PMPI_Comm_dup, PMPI_Comm_idup, 0>::call_from(
      __builtin_return_address(0), PMPI_Comm_f2c(*communicator), &duplicate);
  if (code == MPI_SUCCESS) *made = PMPI_Comm_c2f(duplicate);
  give_error(error, code);
}

void intercomm_merge(const MPI_Fint* communicator, const MPI_Fint* high, MPI_Fint* merged, MPI_Fint* error) noexcept {
  MPI_Comm both = MPI_COMM_NULL;
  const int code =
      mpi::intercomm_merge_from(__builtin_return_address(0), PMPI_Comm_f2c(*communicator), *high != 0 ? 1 : 0, &both);
  if (code == MPI_SUCCESS) *merged = PMPI_Comm_c2f(both);
  give_error(error, code);
}

}  // namespace weft::mpi::fortran
