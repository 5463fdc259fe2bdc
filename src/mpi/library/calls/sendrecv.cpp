// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/calls/sendrecv.h"

namespace weft::mpi {

void take_back(MPI_Request& receive) noexcept {
  if (receive == MPI_REQUEST_NULL) return;
  PMPI_Cancel(&receive);
  PMPI_Request_free(&receive);
}

void describe_exchange(const void* exchange, Description& into) noexcept {
  const auto& waited = *static_cast<const Exchange*>(exchange);
  into.name = waited.name;
  into.communicator = waited.communicator;
  into.peer = waited.source;
  into.tag = waited.receive_tag;
  into.direction = Description::Direction::received;
  into.also_sent = {waited.to, waited.send_tag};
}

int wait_for_both(const Runtime& runtime, MPI_Request receive, MPI_Request send, MPI_Status* status,
                  const Exchange& exchange) noexcept {
  const Origin origin{.of = Origin::Of::communicator, .communicator = exchange.communicator};
  const auto describe_send = [](const void* argument, Description& into) noexcept {
    const auto& waited = *static_cast<const Exchange*>(argument);
    into.name = waited.name;
    into.communicator = waited.communicator;
    into.peer = waited.to;
    into.tag = waited.send_tag;
  };
  // The receive as a rule ends last.
  const int received =
      wait_for(runtime, receive, status, origin, {describe_exchange, &exchange, exchange.caller, exchange.began});
  const int sent = wait_for(runtime, send, MPI_STATUS_IGNORE, origin, {describe_send, &exchange, exchange.caller});
  return received != MPI_SUCCESS ? received : sent;
}

}  // namespace weft::mpi
