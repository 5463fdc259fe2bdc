// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/sendrecv.h"

namespace weft::mpi {

void take_back(MPI_Request& receive) noexcept {
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

int sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int send_tag, int source, int receive_tag,
                     MPI_Comm communicator, MPI_Status* status) noexcept {
  const Runtime* runtime = converting();
  if (runtime == nullptr) {
    return PMPI_Sendrecv_replace(buffer, count, type, to, send_tag, source, receive_tag, communicator, status);
  }
  // The message leaves as a packed copy, whose elements match those of the type.
  int room = 0;
  int packed = 0;
  int code;
  if (code = PMPI_Pack_size(count, type, communicator, &room); code != MPI_SUCCESS) return code;
  void* copy = std::malloc(static_cast<size_t>(room) + 1);
  if (copy == nullptr) {
    PMPI_Comm_call_errhandler(communicator, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
  }
  code = PMPI_Pack(buffer, count, type, copy, room, &packed, communicator);
  if (code == MPI_SUCCESS) {
    code = SendrecvInt::exchange(*runtime, copy, packed, MPI_PACKED, to, send_tag, buffer, count, type, source,
                                 receive_tag, communicator, status);
  }
  std::free(copy);
  return code;
}

}  // namespace weft::mpi
