// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/sendrecv.h"

namespace weft::mpi {

void take_back(MPI_Request& receive) noexcept {
  if (receive == MPI_REQUEST_NULL) return;
  PMPI_Cancel(&receive);
  PMPI_Request_free(&receive);
}

int wait_for_both(const Runtime& runtime, MPI_Request receive, MPI_Request send, MPI_Status* status,
                  MPI_Comm communicator) noexcept {
  const Origin origin{.of = Origin::Of::communicator, .communicator = communicator};
  // The receive as a rule ends last.
  const int received = wait_for(runtime, receive, status, origin);
  const int sent = wait_for(runtime, send, MPI_STATUS_IGNORE, origin);
  return received != MPI_SUCCESS ? received : sent;
}

}  // namespace weft::mpi
