// SPDX-License-Identifier: Apache-2.0
// Each block goes straight to its receiver.
#include <algorithm>

#include "alltoall.h"

namespace weft::tune {

namespace {

constexpr int kTag = 41;

}  // namespace

void scattered(Exchange& exchange, int window) {
  std::vector<MPI_Request> requests;
  for (int first = 0; first < exchange.ranks; first += window) {
    const int last = std::min(first + window, exchange.ranks);
    requests.clear();
    for (int distance = first; distance < last; ++distance) {
      const int from = (exchange.rank - distance + exchange.ranks) % exchange.ranks;
      MPI_Irecv(exchange.receive_block(from), exchange.receive_count, exchange.receive_type, from, kTag, exchange.comm,
                &requests.emplace_back());
    }
    for (int distance = first; distance < last; ++distance) {
      const int to = (exchange.rank + distance) % exchange.ranks;
      MPI_Isend(exchange.send_block(to), exchange.send_count, exchange.send_type, to, kTag, exchange.comm,
                &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
}

void linear(Exchange& exchange) { scattered(exchange, exchange.ranks); }

void pairwise(Exchange& exchange) {
  for (int distance = 0; distance < exchange.ranks; ++distance) {
    const int to = (exchange.rank + distance) % exchange.ranks;
    const int from = (exchange.rank - distance + exchange.ranks) % exchange.ranks;
    MPI_Sendrecv(exchange.send_block(to), exchange.send_count, exchange.send_type, to, kTag,
                 exchange.receive_block(from), exchange.receive_count, exchange.receive_type, from, kTag, exchange.comm,
                 MPI_STATUS_IGNORE);
  }
}

}  // namespace weft::tune
