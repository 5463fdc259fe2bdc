// SPDX-License-Identifier: Apache-2.0
// MPI_Sendrecv and MPI_Sendrecv_replace: a receive and a send that are waited for together.
#pragma once

#include <cstdlib>

#include "mpi/library/calls/helped.h"
#include "mpi/library/diagnostics/call.h"
#include "mpi/library/diagnostics/plain.h"
#include "mpi/library/diagnostics/trace.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi {

// Cancels a receive that has been started, where the send beside it could not be.
void take_back(MPI_Request& receive) noexcept;

// The arguments of both, for messages.
struct Exchange {
  const char* name;
  int to;
  int send_tag;
  int source;
  int receive_tag;
  MPI_Comm communicator;
  const void* caller;
  int64_t began = start_time();
};

// Describes an `Exchange`: a receive, and the send beside it.
void describe_exchange(const void* exchange, Description& into) noexcept;

// Waits for a receive and a send that have been started. Returns the error code of the one that has failed.
int wait_for_both(const Runtime& runtime, MPI_Request receive, MPI_Request send, MPI_Status* status,
                  const Exchange& exchange) noexcept;

template <class Count, auto plain, auto send, auto receive>
struct Sendrecv {
  static int call(const void* from, Count sent, MPI_Datatype send_type, int to, int send_tag, void* into,
                  Count received, MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm communicator,
                  MPI_Status* status) noexcept {
    const Runtime* runtime = converting();
    const Exchange both{kNameOf<plain>, to, send_tag, source, receive_tag, communicator, __builtin_return_address(0)};
    if (runtime == nullptr || (to == MPI_PROC_NULL && source == MPI_PROC_NULL)) {
      return call_plain(describe_exchange, both, both.caller, status, [=](MPI_Status* wanted) {
        return plain(from, sent, send_type, to, send_tag, into, received, receive_type, source, receive_tag,
                     communicator, wanted);
      });
    }
    return exchange(*runtime, from, sent, send_type, into, received, receive_type, status, both);
  }

  static int exchange(const Runtime& runtime, const void* from, Count sent, MPI_Datatype send_type, void* into,
                      Count received, MPI_Datatype receive_type, MPI_Status* status, const Exchange& both) noexcept {
    const auto& [name, to, send_tag, source, receive_tag, communicator, caller, began] = both;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    {
      const Inside inside;
      // MPICH's request for a message from nobody says less than its call, which returns at once.
      int code = source == MPI_PROC_NULL
                     ? PMPI_Recv(into, 0, receive_type, source, receive_tag, communicator, status)
                     : receive(into, received, receive_type, source, receive_tag, communicator, &requests[0]);
      if (code != MPI_SUCCESS) return code;
      code = send(from, sent, send_type, to, send_tag, communicator, &requests[1]);
      if (code != MPI_SUCCESS) {
        take_back(requests[0]);
        return code;
      }
    }
    if (source == MPI_PROC_NULL) status = MPI_STATUS_IGNORE;
    return wait_for_both(runtime, requests[0], requests[1], status, both);
  }
};

using SendrecvInt = Sendrecv<int, PMPI_Sendrecv, PMPI_Isend, PMPI_Irecv>;

// The message leaves as a packed copy, whose elements match those of the type.
template <class Count, auto plain, auto pack_size, auto pack, class Both>
struct SendrecvReplace {
  static int call(void* buffer, Count count, MPI_Datatype type, int to, int send_tag, int source, int receive_tag,
                  MPI_Comm communicator, MPI_Status* status) noexcept {
    return call_from(__builtin_return_address(0), buffer, count, type, to, send_tag, source, receive_tag, communicator,
                     status);
  }

  static int call_from(const void* caller, void* buffer, Count count, MPI_Datatype type, int to, int send_tag,
                       int source, int receive_tag, MPI_Comm communicator, MPI_Status* status) noexcept {
    const Runtime* runtime = converting();
    const Exchange both{kNameOf<plain>, to, send_tag, source, receive_tag, communicator, caller};
    if (runtime == nullptr || (to == MPI_PROC_NULL && source == MPI_PROC_NULL)) {
      return call_plain(describe_exchange, both, caller, status, [=](MPI_Status* wanted) {
        return plain(buffer, count, type, to, send_tag, source, receive_tag, communicator, wanted);
      });
    }
    // Types of absolute addresses: MPICH does not pack from there.
    if (buffer == MPI_BOTTOM) {
      return Helped<plain, kUnordered>::call_helped(*runtime, caller, buffer, count, type, to, send_tag, source,
                                                    receive_tag, communicator, status);
    }
    Count room = 0;
    if (const int code = pack_size(count, type, communicator, &room); code != MPI_SUCCESS) return code;
    void* copy = std::malloc(static_cast<size_t>(room) + 1);
    if (copy == nullptr) {
      PMPI_Comm_call_errhandler(communicator, MPI_ERR_NO_MEM);
      return MPI_ERR_NO_MEM;
    }
    Count packed = 0;
    int code = pack(buffer, count, type, copy, room, &packed, communicator);
    if (code == MPI_SUCCESS) {
      code = Both::exchange(*runtime, copy, packed, MPI_PACKED, buffer, count, type, status, both);
    }
    std::free(copy);
    return code;
  }
};

using SendrecvReplaceInt = SendrecvReplace<int, PMPI_Sendrecv_replace, PMPI_Pack_size, PMPI_Pack, SendrecvInt>;

}  // namespace weft::mpi
