// SPDX-License-Identifier: Apache-2.0
// MPI_Sendrecv and MPI_Sendrecv_replace: a receive and a send that are waited for together.
#pragma once

#include <cstdlib>

#include "mpi/library/errors/errors.h"
#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi {

// A receive that has been started and whose send could not be.
void take_back(MPI_Request& receive) noexcept;

// Both have been started. The code is that of the one that failed.
int wait_for_both(const Runtime& runtime, MPI_Request receive, MPI_Request send, MPI_Status* status,
                  MPI_Comm communicator) noexcept;

template <class Count, auto plain, auto send, auto receive>
struct Sendrecv {
  static int call(const void* from, Count sent, MPI_Datatype send_type, int to, int send_tag, void* into,
                  Count received, MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm communicator,
                  MPI_Status* status) noexcept {
    const Runtime* runtime = converting();
    if (runtime == nullptr) {
      return plain(from, sent, send_type, to, send_tag, into, received, receive_type, source, receive_tag,
                   communicator, status);
    }
    return exchange(*runtime, from, sent, send_type, to, send_tag, into, received, receive_type, source, receive_tag,
                    communicator, status);
  }

  static int exchange(const Runtime& runtime, const void* from, Count sent, MPI_Datatype send_type, int to,
                      int send_tag, void* into, Count received, MPI_Datatype receive_type, int source, int receive_tag,
                      MPI_Comm communicator, MPI_Status* status) noexcept {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    {
      const Inside inside;
      int code = receive(into, received, receive_type, source, receive_tag, communicator, &requests[0]);
      if (code != MPI_SUCCESS) return code;
      code = send(from, sent, send_type, to, send_tag, communicator, &requests[1]);
      if (code != MPI_SUCCESS) {
        take_back(requests[0]);
        return code;
      }
    }
    return wait_for_both(runtime, requests[0], requests[1], status, communicator);
  }
};

using SendrecvInt = Sendrecv<int, PMPI_Sendrecv, PMPI_Isend, PMPI_Irecv>;

int sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int send_tag, int source, int receive_tag,
                     MPI_Comm communicator, MPI_Status* status) noexcept;

}  // namespace weft::mpi
